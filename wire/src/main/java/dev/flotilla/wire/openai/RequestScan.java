package dev.flotilla.wire.openai;

import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What the gateway must know of a request's body, or why the body is refused.
 *
 * <p>A body is one JSON object in UTF-8 that nests at most 100 levels and names each of its
 * top-level fields once: where two readers of a body could see two requests, it is refused. Fields
 * that are not named here pass untouched, whatever they hold.
 */
public sealed interface RequestScan {
  /** Characters of a model's name in a request. */
  int MODEL_CHARS_MAX = 256;

  /**
   * Answers to one prompt: the hub's come one after the other, the built-in engine's side by side.
   */
  int ANSWERS_MAX = 8;

  /** Fields of the top level. */
  int FIELDS_MAX = 256;

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
   * @param body left alone from here on: the result refers to it
   * @return {@link Scanned}, or {@link Refused} with the 400 for the client
   */
  static RequestScan scan(Endpoint endpoint, byte[] body) {
    return new RequestReader(endpoint, body, true).read();
  }

  /** The same for a server of one model: a request may leave its name out. */
  static RequestScan scanAlone(Endpoint endpoint, byte[] body) {
    return new RequestReader(endpoint, body, false).read();
  }

  /** A body that the gateway refuses; {@link ApiError#param()} names the field. */
  record Refused(ApiError error) implements RequestScan {}

  /** A body that may be passed on. */
  final class Scanned implements RequestScan {
    private final byte[] body;
    private final RequestFields fields;

    Scanned(byte[] body, RequestFields fields) {
      this.body = body;
      this.fields = fields;
    }

    /** The body as it came. */
    public byte[] body() {
      return body;
    }

    /** The model that is asked for: 1 to 256 characters, none of them a control character. */
    public String model() {
      return fields.model;
    }

    /** Whether the reply is to be streamed. */
    public boolean stream() {
      return fields.stream;
    }

    /** Whether the client itself asked for the chunk with the usage. */
    public boolean includeUsage() {
      return fields.includeUsage;
    }

    /** Answers wanted, 1 to {@link #ANSWERS_MAX}. */
    public int n() {
      return fields.n;
    }

    /** {@code max_completion_tokens}, else {@code max_tokens}; empty where absent or unlimited. */
    public OptionalLong maxTokens() {
      long tokens = fields.maxCompletionTokens >= 0 ? fields.maxCompletionTokens : fields.maxTokens;
      return tokens >= 0 ? OptionalLong.of(tokens) : OptionalLong.empty();
    }

    /** Elements of {@code messages}, 0 where absent. */
    public int messages() {
      return fields.messages;
    }

    /** Whether {@code tools} has at least one element. */
    public boolean tools() {
      return fields.tools;
    }

    /** Bytes in JSON of {@code messages}, {@code prompt} or {@code input}. */
    public int contentBytes() {
      return fields.contentBytes;
    }

    /** Bytes in JSON of {@code tools}, 0 where absent. */
    public int toolsBytes() {
      return fields.toolsBytes;
    }

    /** The top level's fields, in their order. */
    public List<Field> fields() {
      return Collections.unmodifiableList(fields.all);
    }

    /** The top level's field of that name, or null where it is absent. */
    public @Nullable Field field(String name) {
      return fields.byName.get(name);
    }

    /** Where roles of messages say {@code "developer"}, the quotes included. */
    public List<Span> developerRoles() {
      return Collections.unmodifiableList(fields.developerRoles);
    }

    /** Whether the last message is an assistant's words, which the answer is to continue. */
    public boolean prefilled() {
      return fields.lastRole.equals("assistant") && !fields.lastCallsTools;
    }

    /** Whether a message holds something else than text: an image, a recording, a file. */
    public boolean media() {
      return fields.media;
    }
  }

  /** Bytes of the body, from the first to the one behind the last. */
  record Span(int from, int to) {}

  /**
   * A field of the top level.
   *
   * @param keyFrom where its name begins, with the quote
   * @param valueFrom where its value begins
   * @param valueTo the first byte behind its value
   * @param isNull whether the value is {@code null}
   */
  record Field(String name, int keyFrom, int valueFrom, int valueTo, boolean isNull) {}
}
