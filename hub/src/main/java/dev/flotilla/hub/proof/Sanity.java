package dev.flotilla.hub.proof;

import dev.flotilla.hub.proof.Evidence.Answer;
import dev.flotilla.hub.proof.Evidence.Embedding;
import dev.flotilla.hub.proof.Evidence.Option;
import dev.flotilla.hub.proof.Evidence.TextScore;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Whether what a worker answered is what its model answers. Pure.
 *
 * <p><b>Wide margins only.</b> A small model errs, and near ties fall differently on each engine,
 * quantisation and batch. So a first token counts only where the reference has it at least {@link
 * #MARGIN_NATS} before the next, and some may differ still ({@link #WRONG_SHARE}). Fixed texts are
 * compared by their log-probability a byte. The counts of a prompt's tokens have no such allowance:
 * the tokenizer and the template are the model's, whoever runs it (but for one token at the
 * beginning, which engines add or leave out).
 *
 * <p><b>Without a reference</b> the first worker of a model is held to what holds for any model:
 * its counts agree with its own tokenizer, its answer holds no marks of a template, one of the
 * fixed texts is not improbable, and what everybody knows by heart it has among its first guesses.
 */
final class Sanity {
  static final double MARGIN_NATS = 1;

  /** Of the answers that count, the share that may differ. */
  static final double WRONG_SHARE = 0.34;

  /** How much less likely a fixed text may be, in nats a byte. */
  static final double TEXT_LOSS_MAX = 0.35;

  /** A text that is known is likelier than this, in nats a byte; token soup is at 2 and more. */
  static final double TEXT_FLOOR = -1.6;

  static final double COSINE_MIN = 0.97;

  private static final List<String> MARKS =
      List.of(
          "<|im_start|>",
          "<|im_end|>",
          "<|eot_id|>",
          "<|start_header_id|>",
          "<|end_header_id|>",
          "<|endoftext|>",
          "<start_of_turn>",
          "<end_of_turn>",
          "[INST]",
          "[/INST]",
          "<<SYS>>",
          "<|user|>",
          "<|assistant|>",
          "<|channel|>",
          "<|end|>",
          "</s>");

  private final List<Finding> findings = new ArrayList<>();

  private Sanity() {}

  /** What was looked at, in its order; something is amiss where one did not hold. */
  static List<Finding> judge(Evidence seen, Optional<Evidence> reference) {
    Sanity sanity = new Sanity();
    sanity.counts(seen);
    sanity.marks(seen);
    if (reference.isPresent()) {
      sanity.promptLengths(seen, reference.get());
      sanity.firstTokens(seen, reference.get());
      sanity.texts(seen, reference.get());
      sanity.embeddings(seen, reference.get());
    } else {
      sanity.knownTexts(seen);
      sanity.embeddingsAlone(seen);
    }
    return List.copyOf(sanity.findings);
  }

  /** The engine's tokenizer and its usage count the same. */
  private void counts(Evidence seen) {
    List<Answer> both =
        seen.answers().stream()
            .filter(each -> each.countedTokens() >= 0 && each.promptTokens() >= 0)
            .toList();
    for (Answer answer : both) {
      if (Math.abs(answer.countedTokens() - answer.promptTokens()) > 1) {
        found(
            "tokens of \"" + answer.question() + "\"",
            answer.countedTokens() + ", as its tokenizer counts",
            answer.promptTokens() + ", as its usage says",
            false);
        return;
      }
    }
    if (!both.isEmpty()) {
      found("tokens of prompts", "tokenizer and usage agree", "they do", true);
    }
  }

  private void marks(Evidence seen) {
    if (!seen.embeddings().isEmpty()) {
      return;
    }
    List<String> marks = MARKS.stream().filter(seen.sample()::contains).toList();
    found(
        "a short answer",
        "no marks of a template",
        marks.isEmpty() ? "none" : String.join(", ", marks) + " in: " + seen.sample(),
        marks.isEmpty());
    boolean blank = seen.sample().isBlank();
    boolean broken = seen.sample().chars().filter(c -> c == '\uFFFD').count() > 2;
    if (blank || broken) {
      found("a short answer", "text", blank ? "nothing" : seen.sample(), false);
    }
  }

  /**
   * The same text has as many tokens everywhere; one more or less at the beginning is the engine's.
   */
  private void promptLengths(Evidence seen, Evidence reference) {
    int compared = 0;
    for (Answer right : reference.answers()) {
      Optional<Answer> own = seen.answer(right.question());
      if (own.isEmpty() || own.get().promptTokens() < 0 || right.promptTokens() < 0) {
        continue;
      }
      compared++;
      if (Math.abs(own.get().promptTokens() - right.promptTokens()) > 1) {
        found(
            "tokens of \"" + right.question() + "\"",
            right.promptTokens() + ", as the model's reference has",
            Integer.toString(own.get().promptTokens()),
            false);
        return;
      }
    }
    if (compared > 0) {
      found(
          "tokens of prompts",
          "as the reference has",
          "the same in " + compared + " of them",
          true);
    }
  }

  private void firstTokens(Evidence seen, Evidence reference) {
    int graded = 0;
    List<String> wrong = new ArrayList<>();
    for (Answer right : reference.answers()) {
      Optional<Answer> own = seen.answer(right.question());
      if (right.margin() < MARGIN_NATS || own.isEmpty() || own.get().options().isEmpty()) {
        continue;
      }
      graded++;
      String wanted = right.options().getFirst().text();
      String first = own.get().options().getFirst().text();
      if (!wanted.equals(first)) {
        wrong.add("\"%s\": %s for %s".formatted(right.question(), shown(first), shown(wanted)));
      }
    }
    if (graded == 0) {
      return;
    }
    int allowed = (int) Math.floor(graded * WRONG_SHARE);
    found(
        "first tokens",
        "at least " + (graded - allowed) + " of " + graded + " as the reference has",
        (graded - wrong.size()) + (wrong.isEmpty() ? "" : "; " + String.join(", ", wrong)),
        wrong.size() <= allowed);
  }

  private void texts(Evidence seen, Evidence reference) {
    double loss = 0;
    int compared = 0;
    for (TextScore right : reference.texts()) {
      Optional<TextScore> own = seen.text(right.text());
      if (own.isPresent()) {
        loss += right.perByte() - own.get().perByte();
        compared++;
      }
    }
    if (compared > 0) {
      double mean = loss / compared;
      found(
          "fixed texts",
          "at most %s nats a byte less likely than for the reference"
              .formatted(nats(TEXT_LOSS_MAX)),
          nats(mean) + " less likely",
          mean <= TEXT_LOSS_MAX);
    }
  }

  private void knownTexts(Evidence seen) {
    // Digits stand at the same places in many vocabularies: words tell more.
    List<TextScore> words =
        seen.texts().stream()
            .filter(each -> each.text().chars().anyMatch(Character::isLetter))
            .toList();
    if (!words.isEmpty()) {
      TextScore best =
          words.stream()
              .reduce((one, other) -> one.perByte() >= other.perByte() ? one : other)
              .orElseThrow();
      found(
          "fixed texts",
          "one is known: %s nats a byte or more".formatted(nats(TEXT_FLOOR)),
          "%s at best, for \"%s\"".formatted(nats(best.perByte()), best.text().strip()),
          best.perByte() >= TEXT_FLOOR);
    }
  }

  private void embeddings(Evidence seen, Evidence reference) {
    for (Embedding right : reference.embeddings()) {
      Optional<Embedding> own =
          seen.embeddings().stream().filter(each -> each.text().equals(right.text())).findFirst();
      if (own.isEmpty()) {
        found("embedding of \"" + right.text() + "\"", "a vector", "none", false);
      } else if (own.get().vector().size() != right.vector().size()) {
        found(
            "embedding of \"" + right.text() + "\"",
            right.vector().size() + " numbers",
            Integer.toString(own.get().vector().size()),
            false);
      } else {
        double cosine = cosine(own.get().vector(), right.vector());
        found(
            "embedding of \"" + right.text() + "\"",
            "cosine with the reference's of " + COSINE_MIN + " or more",
            String.format(Locale.ROOT, "%.4f", cosine),
            cosine >= COSINE_MIN);
      }
    }
  }

  private void embeddingsAlone(Evidence seen) {
    for (Embedding each : seen.embeddings()) {
      boolean sound =
          !each.vector().isEmpty()
              && each.vector().stream().allMatch(Double::isFinite)
              && each.vector().stream().anyMatch(value -> value != 0);
      found(
          "embedding of \"" + each.text() + "\"",
          "numbers, not all of them 0",
          sound ? each.vector().size() + " numbers" : "no such vector",
          sound);
    }
  }

  private static double cosine(List<Double> one, List<Double> other) {
    double dot = 0;
    double ones = 0;
    double others = 0;
    for (int i = 0; i < one.size(); i++) {
      dot += one.get(i) * other.get(i);
      ones += one.get(i) * one.get(i);
      others += other.get(i) * other.get(i);
    }
    return ones == 0 || others == 0 ? 0 : dot / Math.sqrt(ones * others);
  }

  private void found(String probe, String expected, String seen, boolean held) {
    findings.add(new Finding("sanity", probe, expected, seen, held));
  }

  private static String shown(String token) {
    return "'" + token.replace("\n", "\\n") + "'";
  }

  private static String nats(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }

  /** For messages: what was likeliest. */
  static String options(List<Option> options) {
    return options.stream()
        .map(each -> shown(each.text()) + " " + nats(each.logprob()))
        .collect(Collectors.joining(", "));
  }
}
