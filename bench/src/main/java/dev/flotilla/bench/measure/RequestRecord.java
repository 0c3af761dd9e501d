package dev.flotilla.bench.measure;

import java.util.Optional;

/**
 * What the client saw of one request. Times are nanoseconds since the start of the run, on one
 * monotonic clock.
 *
 * @param index place of the prompt in the run, from 0
 * @param prompt the prompt's name
 * @param scheduledNanos when the plan wanted it sent; the same as {@code sentNanos} in a closed
 *     loop, where the answer before decides that
 * @param sentNanos just before its first byte was written, on a connection that stood
 * @param chunks when the parts of the answer arrived
 * @param endNanos when the reply had ended, or failed
 * @param inputTokens tokens of the prompt as the server counted them, else as the dataset did; -1
 *     where nobody knows
 * @param outputTokens tokens of the answer; where nobody counted them, the number of chunks
 * @param maxTokens tokens that the answer could have had at most; 0 where that is not known
 * @param countedBy who counted the output tokens
 * @param finishReason as the server gave it
 * @param output the text of the answer: content, reasoning and arguments of tool calls, as they
 *     came
 * @param worker who answered, where the reply's headers say so (a hub's do)
 * @param outcome whether the answer came whole
 */
public record RequestRecord(
    int index,
    String prompt,
    long scheduledNanos,
    long sentNanos,
    Chunks chunks,
    long endNanos,
    int inputTokens,
    int outputTokens,
    int maxTokens,
    CountedBy countedBy,
    Optional<String> finishReason,
    String output,
    Optional<String> worker,
    Outcome outcome) {

  /** A request of which nobody knows how long its answer could have been. */
  public RequestRecord(
      int index,
      String prompt,
      long scheduledNanos,
      long sentNanos,
      Chunks chunks,
      long endNanos,
      int inputTokens,
      int outputTokens,
      CountedBy countedBy,
      Optional<String> finishReason,
      String output,
      Optional<String> worker,
      Outcome outcome) {
    this(
        index,
        prompt,
        scheduledNanos,
        sentNanos,
        chunks,
        endNanos,
        inputTokens,
        outputTokens,
        0,
        countedBy,
        finishReason,
        output,
        worker,
        outcome);
  }

  /** Who counted the tokens of an answer, from the best to the worst. */
  public enum CountedBy {
    /** The server, in the reply's {@code usage}. */
    SERVER,
    /** The server's tokenizer, asked afterwards for the text of the answer. */
    TOKENIZER,
    /** Nobody: each chunk is taken for one token. */
    CHUNKS
  }

  /** How a request ended. */
  public sealed interface Outcome {

    /** The answer came whole: a finish reason, and the stream's own end. */
    record Succeeded() implements Outcome {}

    /**
     * It did not.
     *
     * @param kind for counting
     * @param message one sentence, as reports show it
     */
    record Failed(Kind kind, String message) implements Outcome {}
  }

  /** Kinds of failure. */
  public enum Kind {
    /** Nothing listens there, the name is unknown, or the connection can't be made in time. */
    CONNECT,
    /** No trusted connection. */
    TLS,
    /** A status other than 200. */
    STATUS,
    /** 429 or 503: the server would not take it now. */
    REFUSED,
    /** The stream held an error. */
    IN_BAND,
    /** The reply ended before its end. */
    CUT,
    /** What came is no reply that OpenAI's API knows. */
    MALFORMED,
    /** A whole reply without any output. */
    EMPTY,
    /** A limit of time ran out. */
    TIMEOUT,
    /** The run was ended while it was under way. */
    CANCELLED
  }

  /** Whether the end of the run cut it: then nobody knows what would have become of it. */
  public boolean cut() {
    return outcome instanceof Outcome.Failed failed && failed.kind() == Kind.CANCELLED;
  }

  /** Whether the answer came whole. */
  public boolean succeeded() {
    return outcome instanceof Outcome.Succeeded;
  }
}
