package dev.flotilla.hub.reports;

import dev.flotilla.hub.store.StoredReport.Figure;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * A report as it was sent, before it is stored.
 *
 * @param kind what made it, a word in lower-case letters
 * @param title what was measured, in words
 * @param model the model's name, or several
 * @param figures the few that lists show
 * @param summary everything that was measured, a JSON object
 * @param html one page that needs nothing else
 */
public record ReportDraft(
    String kind, String title, String model, List<Figure> figures, String summary, String html) {

  public ReportDraft {
    figures = List.copyOf(figures);
  }

  /**
   * What keeps a report out.
   *
   * @param field of the request
   * @param why one sentence for a person
   * @param tooLarge whether it is a size that a report may not have
   */
  public record Problem(String field, String why, boolean tooLarge) {}

  /** The first thing that is not in order. */
  public Optional<Problem> problem(ReportLimits limits) {
    return kindProblem(limits.kindCharacters())
        .or(() -> line("title", title, limits.titleCharacters()))
        .or(() -> line("model", model, limits.titleCharacters()))
        .or(() -> figuresProblem(limits))
        .or(() -> size("summary", summary, limits.summaryBytes()))
        .or(() -> size("html", html, limits.htmlBytes()))
        .or(this::htmlProblem);
  }

  private Optional<Problem> kindProblem(int most) {
    boolean word =
        !kind.isEmpty()
            && kind.length() <= most
            && kind.chars().allMatch(c -> (c >= 'a' && c <= 'z') || c == '-');
    return word
        ? Optional.empty()
        : wrong(
            "kind",
            "\"kind\" is a word of at most "
                + most
                + " lower-case letters, such as bench, sweep, arms or engines");
  }

  private Optional<Problem> figuresProblem(ReportLimits limits) {
    if (figures.size() > limits.figures()) {
      return wrong(
          "figures",
          "\"figures\" has "
              + figures.size()
              + " entries, and lists show at most "
              + limits.figures()
              + "; all of them belong into \"summary\"");
    }
    return figures.stream()
        .flatMap(figure ->
            line("figures", figure.name(), limits.figureCharacters())
                .or(() -> line("figures", figure.value(), limits.figureCharacters()))
                .stream())
        .findFirst();
  }

  private Optional<Problem> htmlProblem() {
    return html.stripLeading().regionMatches(true, 0, "<!doctype html", 0, 14)
        ? Optional.empty()
        : wrong("html", "\"html\" is a whole page, which begins with <!doctype html>");
  }

  /** One line of text: lists and events show it. */
  private static Optional<Problem> line(String field, String text, int most) {
    if (text.isBlank() || text.length() > most) {
      return wrong(field, "a text of \"" + field + "\" has 1 to " + most + " characters");
    }
    return text.chars().anyMatch(ReportDraft::isHidden)
        ? wrong(field, "a text of \"" + field + "\" holds no control characters")
        : Optional.empty();
  }

  /** Characters that end a line, or make the text read as what it is not. */
  private static boolean isHidden(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          true;
      default -> false;
    };
  }

  private static Optional<Problem> size(String field, String text, int most) {
    int bytes = text.getBytes(StandardCharsets.UTF_8).length;
    return bytes <= most
        ? Optional.empty()
        : Optional.of(
            new Problem(
                field,
                "\"" + field + "\" has " + bytes + " bytes; at most " + most + " are kept",
                true));
  }

  private static Optional<Problem> wrong(String field, String why) {
    return Optional.of(new Problem(field, why, false));
  }
}
