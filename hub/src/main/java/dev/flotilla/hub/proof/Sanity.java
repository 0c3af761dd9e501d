package dev.flotilla.hub.proof;

import dev.flotilla.hub.proof.Evidence.Answer;
import dev.flotilla.hub.proof.Evidence.Embedding;
import dev.flotilla.hub.proof.Evidence.TextScore;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Whether what a worker answered is what its model answers. Pure.
 *
 * <p><b>Wide margins only.</b> A small model errs, and near ties fall differently on each engine,
 * quantisation and batch. So a first token counts only where the reference has it at least {@link
 * #MARGIN_NATS} before the next, and some may differ still ({@link #WRONG_SHARE}). Fixed texts are
 * compared by their log-probability a byte. What chats begin with is compared by how likely each of
 * the first tokens is: a template of another family changes that more than any engine does. The
 * counts of a prompt's tokens have no such allowance: the tokenizer and the template are the
 * model's, whoever runs it (but for one token at the beginning, which engines add or leave out).
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

  /** How far the first tokens of answers to messages may be from the reference's, in nats. */
  static final double DRIFT_MAX = 0.4;

  /** Of the texts that everybody knows by heart, the share that has to be gone on with. */
  static final double KNOWN_SHARE = 0.5;

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
      SanityFigures figures = SanityFigures.of(seen, reference.get());
      sanity.promptLengths(seen, reference.get());
      sanity.firstTokens("first tokens", figures.beginnings());
      sanity.firstTokens("first tokens of chats", figures.chats());
      sanity.drift(figures);
      sanity.texts(figures);
      sanity.embeddings(seen, reference.get());
    } else {
      sanity.strayMarks(seen);
      sanity.knownTexts(seen);
      sanity.knownBeginnings(seen);
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
   * The same text has as many tokens everywhere; one more or less at the beginning is the engine's,
   * and then it is there in each.
   */
  private void promptLengths(Evidence seen, Evidence reference) {
    int compared = 0;
    for (boolean chat : new boolean[] {false, true}) {
      Integer atTheBeginning = null;
      for (Answer right : reference.answers()) {
        Optional<Answer> own = seen.answer(right.question());
        if (SanityFigures.isChat(right) != chat
            || own.isEmpty()
            || own.get().promptTokens() < 0
            || right.promptTokens() < 0) {
          continue;
        }
        compared++;
        int more = own.get().promptTokens() - right.promptTokens();
        atTheBeginning = atTheBeginning == null ? more : atTheBeginning;
        if (Math.abs(more) > 1 || more != atTheBeginning) {
          found(
              "tokens of \"" + right.question() + "\"",
              right.promptTokens() + ", as the model's reference has",
              own.get().promptTokens()
                  + (Math.abs(more) > 1 ? "" : ", and of another text as many as it has"),
              false);
          return;
        }
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

  private void firstTokens(String probe, SanityFigures.Graded graded) {
    if (graded.count() == 0) {
      return;
    }
    int allowed = (int) Math.floor(graded.count() * WRONG_SHARE);
    int right = graded.count() - graded.wrong().size();
    found(
        probe,
        "at least %d of %d as the reference has"
            .formatted(graded.count() - allowed, graded.count()),
        right + (graded.wrong().isEmpty() ? "" : "; " + String.join(", ", graded.wrong())),
        graded.wrong().size() <= allowed);
  }

  private void drift(SanityFigures figures) {
    if (!Double.isNaN(figures.chatDrift())) {
      found(
          "what chats begin with",
          "at most %s nats from the reference's".formatted(nats(DRIFT_MAX)),
          nats(figures.chatDrift()),
          figures.chatDrift() <= DRIFT_MAX);
    }
  }

  private void texts(SanityFigures figures) {
    if (!Double.isNaN(figures.textLoss())) {
      found(
          "fixed texts",
          "at most %s nats a byte less likely than for the reference"
              .formatted(nats(TEXT_LOSS_MAX)),
          nats(figures.textLoss()) + " less likely",
          figures.textLoss() <= TEXT_LOSS_MAX);
    }
  }

  private void strayMarks(Evidence seen) {
    if (!seen.strayMarks().isEmpty()) {
      found(
          "marks of the chat template",
          "known to the model, as one token each",
          String.join(", ", seen.strayMarks()) + " are several",
          false);
    }
  }

  private void knownTexts(Evidence seen) {
    Optional<TextScore> best = SanityFigures.bestText(seen);
    if (best.isPresent()) {
      double perByte = best.get().perByte();
      found(
          "fixed texts",
          "one is known: %s nats a byte or more".formatted(nats(TEXT_FLOOR)),
          "%s at best, for \"%s\"".formatted(nats(perByte), best.get().text().strip()),
          perByte >= TEXT_FLOOR);
    } else if (!seen.texts().isEmpty()) {
      found("fixed texts", "one is written in words", "each is in pieces of words", false);
    }
  }

  /** What everybody knows by heart: a vocabulary whose words are others' says something else. */
  private void knownBeginnings(Evidence seen) {
    SanityFigures.Graded known = SanityFigures.known(seen);
    if (known.count() > 0) {
      int needed = (int) Math.ceil(known.count() * KNOWN_SHARE);
      int right = known.count() - known.wrong().size();
      found(
          "texts that all know by heart",
          "at least %d of %d are gone on with".formatted(needed, known.count()),
          right + (known.wrong().isEmpty() ? "" : "; " + String.join(", ", known.wrong())),
          right >= needed);
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

  private static String nats(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }
}
