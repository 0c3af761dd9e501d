package dev.flotilla.wire.openai;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.wire.text.Json;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/**
 * Reads what a client that measures must know of each chunk of one streamed reply: whether it holds
 * output, how many tokens there are by now, how it ended. Where {@link ChunkScan} is the relay's
 * look at a chunk, this is the measuring client's: a {@link JsonWalk} that goes down into {@code
 * delta}, and makes no objects but for errors.
 *
 * <p>Output is what a model wrote and somebody may read: {@code content}, {@code text}, {@code
 * refusal}, {@code reasoning_content} or {@code reasoning} (vLLM has called it both; where a delta
 * has both, they say the same and count once), names and arguments of tool calls. A chunk without
 * any of it still counts as output where the server counts along and its count grew with it: the
 * token was one that has no text, such as the end's. A count that comes once, with the last chunk,
 * is no such growth.
 *
 * <p>The text of all chunks is kept as it came, escapes and all, and decoded once, by {@link
 * #output()}. One scan per reply, for one thread.
 */
public final class OutputScan extends JsonWalk {
  private static final int TOP = 0;
  private static final int CHOICE = 1;
  private static final int DELTA = 2;
  private static final int TOOL_CALL = 3;
  private static final int FUNCTION = 4;
  private static final int USAGE = 5;
  private static final int TIMINGS = 6;

  private static final byte[] CHOICES = name("choices");
  private static final byte[] ERROR = name("error");
  private static final byte[] OBJECT = name("object");
  private static final byte[] QUOTED_ERROR = name("\"error\"");
  private static final byte[] USAGE_NAME = name("usage");
  private static final byte[] TIMINGS_NAME = name("timings");
  private static final byte[] DELTA_NAME = name("delta");
  private static final byte[] TEXT = name("text");
  private static final byte[] FINISH_REASON = name("finish_reason");
  private static final byte[] CONTENT = name("content");
  private static final byte[] REASONING_CONTENT = name("reasoning_content");
  private static final byte[] REASONING = name("reasoning");
  private static final byte[] REFUSAL = name("refusal");
  private static final byte[] TOOL_CALLS = name("tool_calls");
  private static final byte[] FUNCTION_NAME = name("function");
  private static final byte[] FUNCTION_CALL = name("function_call");
  private static final byte[] NAME = name("name");
  private static final byte[] ARGUMENTS = name("arguments");
  private static final byte[] PROMPT_TOKENS = name("prompt_tokens");
  private static final byte[] COMPLETION_TOKENS = name("completion_tokens");
  private static final byte[] PREDICTED_N = name("predicted_n");

  private static final int TEXT_ROOM = 1 << 10;

  private final int textBytesMax;
  private byte[] text = new byte[TEXT_ROOM];
  private int textLength;
  private boolean textCut;

  private int choices;
  private boolean wroteText;
  private boolean reasoned;
  private boolean failed;
  private int usageTokens;
  private int timingsTokens;

  private int promptTokens = -1;
  private int tokens = -1;
  private boolean tokensGrew;
  private @Nullable String finishReason;
  private @Nullable EngineError error;

  /**
   * @param textBytesMax how much of the reply's text is kept; what comes beyond it still counts as
   *     output
   */
  public OutputScan(int textBytesMax) {
    this.textBytesMax = textBytesMax;
  }

  /**
   * Scans the next chunk; {@link #choices()}, {@link #hasOutput()} and {@link #error()} then speak
   * of it, the others of all chunks until now.
   *
   * @return whether it is one JSON object and nothing else
   */
  public boolean scan(byte[] json, int start, int length) {
    choices = 0;
    wroteText = false;
    failed = false;
    error = null;
    usageTokens = -1;
    timingsTokens = -1;
    if (!wholeObject(json, start, length, TOP)) {
      return false;
    }
    int counted = usageTokens >= 0 ? usageTokens : timingsTokens;
    tokensGrew = tokens >= 0 && counted > tokens;
    tokens = Math.max(tokens, counted);
    if (failed && error == null) {
      error = EngineError.parse(Arrays.copyOfRange(json, start, end));
    }
    return true;
  }

  /** Elements of {@code choices} in this chunk. */
  public int choices() {
    return choices;
  }

  /** Whether this chunk brought output. */
  public boolean hasOutput() {
    return wroteText || (tokensGrew && choices > 0);
  }

  /** Whether this chunk says how many tokens there are up to and with it. */
  public boolean countsTokens() {
    return usageTokens >= 0 || timingsTokens >= 0;
  }

  /** The error that this chunk is, or null where it is none. */
  public @Nullable EngineError error() {
    return error;
  }

  /**
   * Tokens generated until now, as {@code usage} or llama-server's {@code timings} say; -1 where
   * neither has come yet.
   */
  public int tokens() {
    return tokens;
  }

  /** Tokens of the prompt by {@code usage}, -1 where none has come yet. */
  public int promptTokens() {
    return promptTokens;
  }

  /** The first {@code finish_reason} that was not null; null where none has come yet. */
  public @Nullable String finishReason() {
    return finishReason;
  }

  /** The text of all chunks, in order of arrival; broken escapes or UTF-8 come as they came. */
  public String output() {
    boolean escaped = false;
    for (int i = 0; i < textLength && !escaped; i++) {
      escaped = text[i] == '\\';
    }
    String plain = new String(text, 0, textLength, UTF_8);
    if (!escaped) {
      return plain;
    }
    try {
      return Json.MAPPER.readTree('"' + plain + '"').stringValue();
    } catch (JacksonException _) {
      return plain;
    }
  }

  @Override
  boolean field(int level) {
    return switch (level) {
      case TOP -> topField();
      case CHOICE -> choiceField();
      case DELTA -> deltaField();
      case TOOL_CALL -> (isKey(FUNCTION_NAME) && bytes[at] == '{') ? object(FUNCTION) : value();
      case FUNCTION -> functionField();
      default -> countField(level);
    };
  }

  private boolean topField() {
    byte first = bytes[at];
    if (first == '[' && isKey(CHOICES)) {
      choices = list(CHOICE);
      return choices >= 0;
    }
    if (first == '{' && isKey(USAGE_NAME)) {
      return object(USAGE);
    }
    if (first == '{' && isKey(TIMINGS_NAME)) {
      return object(TIMINGS);
    }
    boolean kind = first == '"' && isKey(OBJECT);
    boolean fails = first != 'n' && first != 'f' && isKey(ERROR);
    int start = at;
    if (!value()) {
      return false;
    }
    if (kind) {
      failed |= Arrays.equals(bytes, start, at, QUOTED_ERROR, 0, QUOTED_ERROR.length);
    } else if (fails) {
      try {
        error = EngineError.of(Json.MAPPER.readTree(bytes, start, at - start));
      } catch (JacksonException _) {
        return false;
      }
    }
    return true;
  }

  private boolean choiceField() {
    byte first = bytes[at];
    if (first == '{' && isKey(DELTA_NAME)) {
      reasoned = false;
      return object(DELTA);
    }
    if (first == '"' && isKey(TEXT)) {
      return textValue();
    }
    boolean ends = first == '"' && finishReason == null && isKey(FINISH_REASON);
    int start = at;
    if (!value()) {
      return false;
    }
    if (ends) {
      finishReason = new String(bytes, start + 1, at - start - 2, UTF_8);
    }
    return true;
  }

  private boolean deltaField() {
    byte first = bytes[at];
    if (first == '[' && isKey(TOOL_CALLS)) {
      return list(TOOL_CALL) >= 0;
    }
    if (first == '{' && isKey(FUNCTION_CALL)) {
      return object(FUNCTION);
    }
    if (first != '"') {
      return value();
    }
    if (isKey(CONTENT) || isKey(REFUSAL)) {
      return textValue();
    }
    boolean reasoning = isKey(REASONING_CONTENT) || isKey(REASONING);
    boolean again = reasoned;
    reasoned |= reasoning;
    return (reasoning && !again) ? textValue() : value();
  }

  private boolean functionField() {
    if (bytes[at] != '"') {
      return value();
    }
    if (isKey(ARGUMENTS)) {
      return textValue();
    }
    boolean named = isKey(NAME);
    int start = at;
    if (!value()) {
      return false;
    }
    wroteText |= named && at - start > 2;
    return true;
  }

  private boolean countField(int level) {
    boolean prompt = level == USAGE && isKey(PROMPT_TOKENS);
    boolean completion = level == USAGE && isKey(COMPLETION_TOKENS);
    boolean predicted = level == TIMINGS && isKey(PREDICTED_N);
    int start = at;
    if (!value()) {
      return false;
    }
    if (prompt) {
      promptTokens = Math.max(promptTokens, number(start));
    } else if (completion) {
      usageTokens = number(start);
    } else if (predicted) {
      timingsTokens = number(start);
    }
    return true;
  }

  /** The whole number that lies between there and here; -1 where it is none that counts tokens. */
  private int number(int start) {
    long number = 0;
    for (int i = start; i < at; i++) {
      int digit = bytes[i] - '0';
      if (digit < 0 || digit > 9 || number > Integer.MAX_VALUE / 10) {
        return -1;
      }
      number = 10 * number + digit;
    }
    return (int) Math.min(number, Integer.MAX_VALUE);
  }

  private boolean textValue() {
    int start = at + 1;
    if (!value()) {
      return false;
    }
    int length = at - 1 - start;
    if (length > 0) {
      wroteText = true;
      keep(start, length);
    }
    return true;
  }

  private void keep(int start, int length) {
    if (textCut || length > textBytesMax - textLength) {
      // From here on nothing: a text with a hole would be taken for what the model wrote.
      textCut = true;
      return;
    }
    if (textLength + length > text.length) {
      text = Arrays.copyOf(text, Math.max(textLength + length, 2 * text.length));
    }
    System.arraycopy(bytes, start, text, textLength, length);
    textLength += length;
  }

  private static byte[] name(String name) {
    return name.getBytes(US_ASCII);
  }
}
