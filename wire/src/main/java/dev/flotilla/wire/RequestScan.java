package dev.flotilla.wire;

import java.util.OptionalLong;

/** What the gateway must know of a request's body, or why the body is refused. */
@SuppressWarnings("DoNotCallSuggester")
public sealed interface RequestScan {

  /** Which body is expected. */
  enum Endpoint {
    CHAT("messages"),
    COMPLETIONS("prompt"),
    EMBEDDINGS("input");

    private final String field;

    Endpoint(String field) {
      this.field = field;
    }

    /** The field that this endpoint can't do without, beside {@code model}. */
    public String field() {
      return field;
    }
  }

  /**
   * Reads the body once.
   *
   * @return {@link Scanned}, or {@link Refused} with the 400 for the client
   */
  static RequestScan scan(Endpoint endpoint, byte[] body) {
    throw new UnsupportedOperationException(endpoint + " " + body.length);
  }

  /** A body that the gateway refuses; {@link ApiError#param()} names the field. */
  record Refused(ApiError error) implements RequestScan {}

  /** A body that may be passed on. */
  non-sealed interface Scanned extends RequestScan {
    /** The body as it came. */
    byte[] body();

    /** The model that is asked for: 1 to 256 characters, none of them a control character. */
    String model();

    /** Whether the reply is to be streamed. */
    boolean stream();

    /** Whether the client itself asked for the chunk with the usage. */
    boolean includeUsage();

    /** Answers wanted, 1 to 128. */
    int n();

    /** {@code max_completion_tokens}, else {@code max_tokens}; empty where absent or unlimited. */
    OptionalLong maxTokens();

    /** Elements of {@code messages}, 0 where absent. */
    int messages();

    /** Whether {@code tools} has at least one element. */
    boolean tools();

    /** Bytes in JSON of {@code messages}, {@code prompt} or {@code input}. */
    int contentBytes();

    /** Bytes in JSON of {@code tools}, 0 where absent. */
    int toolsBytes();

    /**
     * The body for an engine: everything byte for byte, but for the model's name and, where wanted,
     * {@code stream_options.include_usage} set to true.
     *
     * @return the body itself where nothing differs
     */
    byte[] forEngine(String model, boolean wantUsage);
  }
}
