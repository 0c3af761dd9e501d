package dev.flotilla.hub.proof;

import dev.flotilla.hub.proof.Evidence.Answer;
import dev.flotilla.hub.proof.Evidence.Option;
import dev.flotilla.hub.proof.Evidence.TextScore;
import dev.flotilla.hub.proof.Questions.Question;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The numbers by which {@link Sanity} judges a worker beside a reference.
 *
 * @param beginnings first tokens behind texts to be gone on with, where the reference's stands far
 *     enough before its next
 * @param chats the same of answers to messages
 * @param chatDrift how far the likeliest first tokens of answers to messages are from the
 *     reference's, in nats: the mean over the messages; NaN where they can't be compared
 * @param textLoss how much less likely the fixed texts are than for the reference, in nats a byte,
 *     the mean over the texts; NaN where they can't be compared
 */
record SanityFigures(Graded beginnings, Graded chats, double chatDrift, double textLoss) {
  /** A text in shorter tokens is spelt, not written in words: that says little of a vocabulary. */
  private static final double CHARS_A_TOKEN_MIN = 2;

  /**
   * What was compared.
   *
   * @param wrong what was not as it should be, in words
   */
  record Graded(int count, List<String> wrong) {
    Graded {
      wrong = List.copyOf(wrong);
    }
  }

  static SanityFigures of(Evidence seen, Evidence reference) {
    double loss = 0;
    int compared = 0;
    for (TextScore right : reference.texts()) {
      Optional<TextScore> own = seen.text(right.text());
      if (own.isPresent()) {
        loss += right.perByte() - own.get().perByte();
        compared++;
      }
    }
    return new SanityFigures(
        firstTokens(seen, reference, false),
        firstTokens(seen, reference, true),
        drift(seen, reference),
        compared == 0 ? Double.NaN : loss / compared);
  }

  static boolean isChat(Answer answer) {
    return Questions.named(answer.question()).map(Question::chat).orElse(false);
  }

  private static Graded firstTokens(Evidence seen, Evidence reference, boolean chat) {
    int count = 0;
    List<String> wrong = new ArrayList<>();
    for (Answer right : reference.answers()) {
      Optional<Answer> own = seen.answer(right.question());
      if (isChat(right) != chat
          || right.margin() < Sanity.MARGIN_NATS
          || own.isEmpty()
          || own.get().options().isEmpty()) {
        continue;
      }
      count++;
      String wanted = right.options().getFirst().text();
      String first = own.get().options().getFirst().text();
      if (!wanted.equals(first)) {
        wrong.add("\"%s\": %s for %s".formatted(right.question(), shown(first), shown(wanted)));
      }
    }
    return new Graded(count, wrong);
  }

  /**
   * Between two lists of the likeliest tokens: the difference of their log-probabilities, each
   * token of the reference's weighed by its probability there. One that the other list has not is
   * at most as likely as the last that it has.
   */
  private static double drift(Evidence seen, Evidence reference) {
    double sum = 0;
    int compared = 0;
    for (Answer right : reference.answers()) {
      Optional<Answer> own = seen.answer(right.question());
      if (!isChat(right)
          || right.options().size() < 2
          || own.isEmpty()
          || own.get().options().size() < 2) {
        continue;
      }
      List<Option> others = own.get().options();
      double mass = 0;
      double distance = 0;
      for (Option option : right.options()) {
        double other =
            others.stream()
                .filter(each -> each.text().equals(option.text()))
                .mapToDouble(Option::logprob)
                .findFirst()
                .orElse(Math.min(others.getLast().logprob(), option.logprob()));
        double share = Math.exp(option.logprob());
        mass += share;
        distance += share * Math.abs(option.logprob() - other);
      }
      sum += distance / mass;
      compared++;
    }
    return compared == 0 ? Double.NaN : sum / compared;
  }

  /** Texts that everybody goes on with in one way, and whether that is among the first guesses. */
  static Graded known(Evidence seen) {
    int count = 0;
    List<String> wrong = new ArrayList<>();
    for (Answer answer : seen.answers()) {
      Optional<Question> question =
          Questions.named(answer.question()).filter(each -> !each.known().isEmpty());
      if (question.isEmpty() || answer.options().isEmpty()) {
        continue;
      }
      count++;
      if (answer.options().stream().noneMatch(option -> question.get().knows(option.text()))) {
        wrong.add(
            "\"%s\": %s for %s"
                .formatted(
                    answer.question(),
                    shown(answer.options().getFirst().text()),
                    shown(question.get().known())));
      }
    }
    return new Graded(count, wrong);
  }

  /**
   * The fixed text that is likeliest, of those that were written in words. Digits stand at the same
   * places in many vocabularies, and letters do.
   */
  static Optional<TextScore> bestText(Evidence seen) {
    return seen.texts().stream()
        .filter(each -> each.text().chars().anyMatch(Character::isLetter))
        .filter(each -> each.text().length() >= CHARS_A_TOKEN_MIN * each.tokens())
        .max(Comparator.comparingDouble(TextScore::perByte));
  }

  /** For whoever calibrates the thresholds. */
  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "%d/%d beginnings, %d/%d chats, %.3f nats of drift, %.4f nats a byte",
        beginnings.wrong().size(),
        beginnings.count(),
        chats.wrong().size(),
        chats.count(),
        chatDrift,
        textLoss);
  }

  private static String shown(String token) {
    return "'" + token.replace("\n", "\\n") + "'";
  }
}
