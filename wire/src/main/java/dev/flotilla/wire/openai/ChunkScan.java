package dev.flotilla.wire.openai;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.flotilla.wire.http.SseReader;
import dev.flotilla.wire.text.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/**
 * Reads what the relay must know of each chunk of a streamed reply, or of a whole reply.
 *
 * <p>The relay pays for this once per token, so it is a {@link JsonWalk} that looks at the names of
 * the top level, of each choice and of its delta only, and tells on the way whether the chunk is
 * {@linkplain #plain() plain}, so that it may be passed on as it is. Values that matter and are
 * rare ({@code usage}, {@code timings}, {@code error}) are cut out and parsed by Jackson. One scan
 * per stream, used again and again by its thread.
 */
public final class ChunkScan extends JsonWalk {
  private static final int TOP = 0;
  private static final int CHOICE = 1;
  private static final int DELTA = 2;
  private static final byte[] MODEL = "model".getBytes(US_ASCII);
  private static final byte[] CHOICES = "choices".getBytes(US_ASCII);
  private static final byte[] FINISH_REASON = "finish_reason".getBytes(US_ASCII);
  private static final byte[] USAGE = "usage".getBytes(US_ASCII);
  private static final byte[] TIMINGS = "timings".getBytes(US_ASCII);
  private static final byte[] ERROR = "error".getBytes(US_ASCII);
  private static final byte[] OBJECT = "object".getBytes(US_ASCII);
  private static final byte[] PROMPT_PROGRESS = "prompt_progress".getBytes(US_ASCII);
  private static final byte[] VERBOSE = "__verbose".getBytes(US_ASCII);
  private static final byte[] INDEX = "index".getBytes(US_ASCII);
  private static final byte[] DELTA_NAME = "delta".getBytes(US_ASCII);
  private static final byte[] MESSAGE = "message".getBytes(US_ASCII);
  private static final byte[] TEXT = "text".getBytes(US_ASCII);
  private static final byte[] LOGPROBS = "logprobs".getBytes(US_ASCII);
  private static final byte[] ROLE = "role".getBytes(US_ASCII);
  private static final byte[] CONTENT = "content".getBytes(US_ASCII);
  private static final byte[] REASONING_CONTENT = "reasoning_content".getBytes(US_ASCII);
  private static final byte[] STOP = "\"stop\"".getBytes(US_ASCII);
  private static final byte[] LENGTH = "\"length\"".getBytes(US_ASCII);
  private static final byte[] QUOTED_ERROR = "\"error\"".getBytes(US_ASCII);
  private static final byte[] NOTHING = {};
  private static final byte[] DATA = "data: ".getBytes(US_ASCII);

  private final byte[] publicName;

  private int modelStart;
  private int modelEnd;
  private int choices;
  private boolean finished;

  /** Where {@code timings} lies, with its name; -1 where it doesn't. */
  private int timingsFrom;

  private int timingsTo;

  // What of a chunk is plain, by its only choice.
  private boolean known;
  private boolean delta;
  private boolean message;
  private boolean completion;
  private boolean role;
  private boolean text;
  private boolean reasoning;

  /** Whether the top level calls itself an error, as older vLLM does. */
  private boolean failed;

  private @Nullable EngineError error;
  private @Nullable TokenUsage usage;
  private @Nullable EngineTimings timings;

  /**
   * @param publicModel the model's name as clients know it
   */
  public ChunkScan(String publicModel) {
    this.publicName = JsonText.quoted(publicModel);
  }

  /**
   * Scans one JSON object; the getters then speak of it, until the next scan.
   *
   * @return whether it is one JSON object and nothing else
   */
  public boolean scan(byte[] json, int start, int length) {
    modelStart = -1;
    modelEnd = -1;
    choices = 0;
    finished = false;
    error = null;
    usage = null;
    timings = null;
    failed = false;
    timingsFrom = -1;
    timingsTo = -1;
    known = true;
    delta = false;
    message = false;
    completion = false;
    role = false;
    text = false;
    reasoning = false;
    if (!wholeObject(json, start, length, TOP)) {
      return false;
    }
    if (failed && error == null) {
      error = EngineError.parse(Arrays.copyOfRange(json, start, end));
    }
    return true;
  }

  /** Elements of {@code choices}; 0 where the field is absent or empty. */
  public int choices() {
    return choices;
  }

  /** Whether any choice has a {@code finish_reason} other than null. */
  public boolean finished() {
    return finished;
  }

  /**
   * Whether the chunk is of the one form that all chunks are given, as llama-server writes it: one
   * choice, the first, of which one thing is said: its role, a piece of {@code content} or of
   * {@code reasoning_content}, or a usual {@code finish_reason}; of a completion a piece of {@code
   * text}. Fields that nobody knows are no matter; those that are an engine's own, or change their
   * form from engine to engine, are.
   */
  public boolean plain() {
    if (!known || choices != 1 || usage != null || timingsFrom >= 0 || message) {
      return false;
    }
    if (completion) {
      return text && !finished && !delta;
    }
    int said = (role ? 1 : 0) + (text ? 1 : 0) + (reasoning ? 1 : 0) + (finished ? 1 : 0);
    return delta && said == 1;
  }

  /**
   * Whether the whole reply is of the one form that all are given: one choice, the first, with a
   * usual {@code finish_reason} and a message of role, {@code content} and perhaps {@code
   * reasoning_content}; but for llama-server's {@code timings}.
   */
  public boolean plainWhole() {
    return known && choices == 1 && message && role && text && finished && !delta && !completion;
  }

  /** Whether a delta says who speaks. */
  public boolean speaksRole() {
    return role;
  }

  /** Whether there is {@code reasoning_content}. */
  public boolean hasReasoning() {
    return reasoning;
  }

  /** Whether there is {@code content} or {@code text}. */
  public boolean hasText() {
    return text;
  }

  /** The top-level {@code error}, or the whole where its {@code object} is one; null where none. */
  public @Nullable EngineError error() {
    return error;
  }

  /** The top-level {@code usage}, or null where there is none. */
  public @Nullable TokenUsage usage() {
    return usage;
  }

  /** The top-level {@code timings}, or null where there is none. */
  public @Nullable EngineTimings timings() {
    return timings;
  }

  /** Whether the object names a model, and another one than the public name. */
  public boolean modelDiffers() {
    return modelStart >= 0
        && !Arrays.equals(bytes, modelStart, modelEnd, publicName, 0, publicName.length);
  }

  /**
   * The scanned object with the public name: the same bytes where nothing differs.
   *
   * @param json what was scanned, from its first byte to its last
   */
  public byte[] withModel(byte[] json) {
    return modelDiffers() ? spliced(json, modelStart, modelEnd, publicName) : json;
  }

  /** The same without llama-server's {@code timings}. */
  public byte[] withModelAlone(byte[] json) {
    if (timingsFrom < 0) {
      return withModel(json);
    }
    int from = timingsFrom;
    int to = timingsTo;
    while (from > 0 && isSpace(json[from - 1])) {
      from--;
    }
    if (from > 0 && json[from - 1] == ',') {
      from--;
    } else {
      while (to < json.length && isSpace(json[to])) {
        to++;
      }
      to += to < json.length && json[to] == ',' ? 1 : 0;
    }
    // From the back to the front, so that no place moves before it is used.
    if (modelDiffers() && modelStart > from) {
      return spliced(spliced(json, modelStart, modelEnd, publicName), from, to, NOTHING);
    }
    byte[] without = spliced(json, from, to, NOTHING);
    return modelDiffers() ? spliced(without, modelStart, modelEnd, publicName) : without;
  }

  private static boolean isSpace(byte b) {
    return b == ' ' || b == '\n' || b == '\r' || b == '\t';
  }

  private static byte[] spliced(byte[] json, int from, int to, byte[] with) {
    byte[] spliced = new byte[json.length - (to - from) + with.length];
    System.arraycopy(json, 0, spliced, 0, from);
    System.arraycopy(with, 0, spliced, from, with.length);
    System.arraycopy(json, to, spliced, from + with.length, json.length - to);
    return spliced;
  }

  /**
   * Writes an event whose data was just scanned, with the public name in it; byte for byte as it
   * came where the name is right or absent. An event with several data lines keeps them, and loses
   * what else it had.
   */
  public void writeEvent(OutputStream out, SseReader event) throws IOException {
    if (!modelDiffers()) {
      out.write(event.buffer(), event.start(), event.length());
    } else if (!event.dataJoined()) {
      out.write(bytes, event.start(), modelStart - event.start());
      out.write(publicName);
      out.write(bytes, modelEnd, event.start() + event.length() - modelEnd);
    } else {
      writeLines(out, bytes, event.dataStart(), modelStart, true);
      out.write(publicName);
      int dataEnd = event.dataStart() + event.dataLength();
      writeLines(out, bytes, modelEnd, dataEnd, false);
      out.write('\n');
      out.write('\n');
    }
  }

  private static void writeLines(OutputStream out, byte[] data, int from, int to, boolean begin)
      throws IOException {
    if (begin) {
      out.write(DATA);
    }
    for (int i = from; i < to; i++) {
      out.write(data[i]);
      if (data[i] == '\n') {
        out.write(DATA);
      }
    }
  }

  @Override
  boolean field(int level) {
    return switch (level) {
      case TOP -> topField();
      case CHOICE -> choiceField();
      default -> deltaField();
    };
  }

  private boolean topField() {
    byte first = bytes[at];
    if (first == '[' && isKey(CHOICES)) {
      return choiceList();
    }
    boolean model = first == '"' && isKey(MODEL);
    boolean kind = first == '"' && isKey(OBJECT);
    boolean counts = first == '{' && isKey(USAGE);
    boolean times = first == '{' && isKey(TIMINGS);
    boolean fails = first != 'n' && first != 'f' && isKey(ERROR);
    known &= !isKey(PROMPT_PROGRESS) && !isKey(VERBOSE);
    int fieldStart = keyFrom();
    int valueStart = at;
    if (!value()) {
      return false;
    }
    if (model) {
      modelStart = valueStart;
      modelEnd = at;
    }
    if (kind) {
      failed |= Arrays.equals(bytes, valueStart, at, QUOTED_ERROR, 0, QUOTED_ERROR.length);
    }
    try {
      if (counts) {
        usage = TokenUsage.read(bytes, valueStart, at - valueStart);
      } else if (times) {
        timings = EngineTimings.read(bytes, valueStart, at - valueStart);
        timingsFrom = fieldStart;
        timingsTo = at;
      } else if (fails) {
        error = EngineError.of(Json.MAPPER.readTree(bytes, valueStart, at - valueStart));
      }
      return true;
    } catch (JacksonException _) {
      return false;
    }
  }

  private boolean choiceList() {
    choices = list(CHOICE);
    return choices >= 0;
  }

  private boolean choiceField() {
    byte first = bytes[at];
    if (first == '{' && isKey(DELTA_NAME)) {
      delta = true;
      return object(DELTA);
    }
    if (first == '{' && isKey(MESSAGE)) {
      message = true;
      return object(DELTA);
    }
    int start = at;
    if (isKey(FINISH_REASON)) {
      boolean nothing = first == 'n';
      finished |= !nothing;
      boolean whole = value();
      known &= nothing || is(STOP, start) || is(LENGTH, start);
      return whole;
    }
    if (isKey(INDEX)) {
      boolean whole = value();
      known &= first == '0' && at == start + 1;
      return whole;
    }
    if (isKey(TEXT)) {
      completion = true;
      text = first == '"';
    } else {
      known &= first == 'n' || !isKey(LOGPROBS);
    }
    return value();
  }

  private boolean deltaField() {
    byte first = bytes[at];
    if (first == 'n') {
      return value();
    }
    boolean string = first == '"';
    boolean empty = string && at + 1 < end && bytes[at + 1] == '"';
    if (string && isKey(CONTENT)) {
      text |= message || !empty;
    } else if (string && isKey(REASONING_CONTENT)) {
      reasoning = true;
      known &= !empty;
    } else if (string && isKey(ROLE)) {
      role = true;
    } else {
      known = false;
    }
    return value();
  }

  private boolean is(byte[] word, int from) {
    return Arrays.equals(bytes, from, at, word, 0, word.length);
  }
}
