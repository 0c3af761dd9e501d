package dev.flotilla.hub.proof;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * What a worker answered to the questions of {@link Questions}: enough to tell another model, a
 * damaged file, another template or another tokenizer from this one. Kept as the model's reference
 * once it is accepted.
 *
 * @param answers one for each question that was answered, and for each text whose vector was made:
 *     that has no options
 * @param texts one for each fixed text whose probability the engine tells; empty where it tells
 *     none
 * @param sample a short answer in full
 * @param embeddings one vector for each text, of a worker that answers embeddings alone
 * @param strayMarks marks of the engine's template that its tokenizer takes for several tokens
 */
public record Evidence(
    List<Answer> answers,
    List<TextScore> texts,
    String sample,
    List<Embedding> embeddings,
    List<String> strayMarks) {

  public Evidence {
    answers = List.copyOf(answers);
    texts = List.copyOf(texts);
    embeddings = List.copyOf(embeddings);
    // What an earlier program stored has none.
    strayMarks = List.copyOf(Objects.requireNonNullElse(strayMarks, List.of()));
  }

  /**
   * The first token of an answer, and what else it might have been.
   *
   * @param question its name
   * @param promptTokens tokens of the prompt as the reply's usage has them, -1 where it has none
   * @param countedTokens the same as the engine's own tokenizer counts them, -1 where it was not
   *     asked
   * @param options the likeliest first; empty where the engine tells no probabilities
   */
  public record Answer(String question, int promptTokens, int countedTokens, List<Option> options) {
    public Answer {
      options = List.copyOf(options);
    }

    /** How much likelier the first is than the second, in nats; 0 where that is not known. */
    double margin() {
      return options.size() < 2 ? 0 : options.get(0).logprob() - options.get(1).logprob();
    }
  }

  /**
   * A token that may come next.
   *
   * @param text without the blank that most tokenizers put before a word
   * @param logprob natural logarithm of its probability
   */
  public record Option(String text, double logprob) {}

  /**
   * How likely a fixed text is.
   *
   * @param bytes of the text that was judged
   * @param logprob natural logarithm of its probability, all tokens together
   */
  public record TextScore(String text, int tokens, int bytes, double logprob) {
    /** Nats a byte: engines may cut a text into other tokens. */
    double perByte() {
      return logprob / bytes;
    }
  }

  /** The vector of one text. */
  public record Embedding(String text, List<Double> vector) {
    public Embedding {
      vector = List.copyOf(vector);
    }
  }

  Optional<Answer> answer(String question) {
    return answers.stream().filter(each -> each.question().equals(question)).findFirst();
  }

  Optional<TextScore> text(String text) {
    return texts.stream().filter(each -> each.text().equals(text)).findFirst();
  }
}
