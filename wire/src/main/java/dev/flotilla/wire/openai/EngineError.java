package dev.flotilla.wire.openai;

import dev.flotilla.wire.text.Json;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * What an engine said when it refused or failed, whatever its dialect: OpenAI's nested object,
 * vLLM's top-level one, or a bare string.
 *
 * @param message the engine's own words, at most {@value #MESSAGE_CHARS_MAX} characters; empty
 *     where it gave none
 * @param type the engine's class of error, empty where it gave none
 * @param code the engine's code as text ({@code 400} and {@code "400"} are the same), empty where
 *     it gave none
 * @param param the field of the request that it speaks of, empty where it names none
 * @param overflow set where the prompt did not fit the engine's context
 */
public record EngineError(
    String message, String type, String code, String param, Optional<ContextOverflow> overflow) {

  /** Characters of a message that are kept. */
  public static final int MESSAGE_CHARS_MAX = 2_000;

  private static final int WORD_CHARS_MAX = 100;

  /** An error of which nothing is known: the body was no JSON, or no error. */
  public static final EngineError UNKNOWN = new EngineError("", "", "", "", Optional.empty());

  /** The engines' and OpenAI's ways to say how long the context is. */
  private static final List<Pattern> CONTEXT =
      List.of(
          Pattern.compile("maximum context length is (\\d{1,12}) tokens"),
          Pattern.compile("context length is only (\\d{1,12}) tokens"),
          Pattern.compile("maximum model length of (\\d{1,12})"),
          Pattern.compile("prompt and answer have (\\d{1,12}) together at most"),
          Pattern.compile("and a text has (\\d{1,12}) at most"),
          // llama-server of a text to embed, with a status of 500.
          Pattern.compile("is too large to process.*\\(current batch size: (\\d{1,12})\\)"));

  /** And how long the prompt is. The first that is found counts. */
  private static final List<Pattern> PROMPT =
      List.of(
          Pattern.compile("contains at least (\\d{1,12}) input tokens"),
          Pattern.compile("\\((\\d{1,12}) in the (?:messages|prompt)"),
          Pattern.compile("request has (\\d{1,12}) input tokens"),
          Pattern.compile("passed (\\d{1,12}) input tokens"),
          Pattern.compile("prompt \\(length (\\d{1,12})\\)"),
          Pattern.compile("your (?:messages|prompt) resulted in (\\d{1,12}) tokens"),
          Pattern.compile("contains (\\d{1,12}) input tokens"),
          Pattern.compile("the prompt has (\\d{1,12}) tokens"),
          Pattern.compile("text of the input has (?:at least )?(\\d{1,12}) tokens"),
          Pattern.compile("input \\((\\d{1,12}) tokens\\) is too large"));

  /**
   * A prompt longer than the context.
   *
   * @param promptTokens tokens of the prompt as the engine counted, -1 where it does not say
   * @param contextTokens tokens of context as the engine has, -1 where it does not say
   */
  public record ContextOverflow(long promptTokens, long contextTokens) {}

  /** Reads the body of a reply; what is no JSON gives {@link #UNKNOWN}. */
  public static EngineError parse(byte[] body) {
    try {
      return of(Json.MAPPER.readTree(body));
    } catch (JacksonException _) {
      return UNKNOWN;
    }
  }

  /** Reads a whole reply or chunk, or the value of its field {@code error}. */
  static EngineError of(JsonNode root) {
    JsonNode error = root.has("error") ? root.get("error") : root;
    if (error.isString()) {
      String message = error.stringValue();
      return new EngineError(cut(message, MESSAGE_CHARS_MAX), "", "", "", overflow(message));
    }
    if (!error.isObject()) {
      return UNKNOWN;
    }
    String message = text(error, "message");
    if (message.isEmpty()) {
      message = text(error, "detail");
    }
    String type = text(error, "type");
    String code = text(error, "code");
    Optional<ContextOverflow> overflow =
        type.equals("exceed_context_size_error")
            ? Optional.of(
                new ContextOverflow(number(error, "n_prompt_tokens"), number(error, "n_ctx")))
            : overflow(message);
    if (overflow.isEmpty() && code.equals("context_length_exceeded")) {
      overflow = Optional.of(new ContextOverflow(-1, -1));
    }
    return new EngineError(
        cut(message, MESSAGE_CHARS_MAX),
        cut(type, WORD_CHARS_MAX),
        cut(code, WORD_CHARS_MAX),
        cut(text(error, "param"), WORD_CHARS_MAX),
        overflow);
  }

  private static Optional<ContextOverflow> overflow(String message) {
    String searched = cut(message, MESSAGE_CHARS_MAX);
    long context = first(CONTEXT, searched);
    return context < 0
        ? Optional.empty()
        : Optional.of(new ContextOverflow(first(PROMPT, searched), context));
  }

  private static long first(List<Pattern> patterns, String message) {
    for (Pattern pattern : patterns) {
      Matcher matcher = pattern.matcher(message);
      if (matcher.find()) {
        return Long.parseLong(matcher.group(1));
      }
    }
    return -1;
  }

  private static String text(JsonNode object, String field) {
    JsonNode value = object.get(field);
    if (value == null) {
      return "";
    }
    return value.isString()
        ? value.stringValue()
        : value.isIntegralNumber() ? value.toString() : "";
  }

  private static long number(JsonNode object, String field) {
    JsonNode value = object.get(field);
    return value != null && value.canConvertToLong() && value.isIntegralNumber()
        ? value.longValue()
        : -1;
  }

  private static String cut(String text, int charsMax) {
    return text.length() <= charsMax ? text : text.substring(0, charsMax) + "…";
  }
}
