package dev.flotilla.wire;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/**
 * Reads what the relay must know of each chunk of a streamed reply, or of a whole reply.
 *
 * <p>The relay pays for this once per token, so it is a {@link JsonWalk} that looks at the names of
 * the top level and of each choice only. Values that matter and are rare ({@code usage}, {@code
 * timings}, {@code error}) are cut out and parsed by Jackson. One scan per stream, used again and
 * again by its thread.
 */
public final class ChunkScan extends JsonWalk {
  private static final int TOP = 0;
  private static final int CHOICE = 1;
  private static final byte[] MODEL = "model".getBytes(US_ASCII);
  private static final byte[] CHOICES = "choices".getBytes(US_ASCII);
  private static final byte[] FINISH_REASON = "finish_reason".getBytes(US_ASCII);
  private static final byte[] USAGE = "usage".getBytes(US_ASCII);
  private static final byte[] TIMINGS = "timings".getBytes(US_ASCII);
  private static final byte[] ERROR = "error".getBytes(US_ASCII);
  private static final byte[] OBJECT = "object".getBytes(US_ASCII);
  private static final byte[] QUOTED_ERROR = "\"error\"".getBytes(US_ASCII);
  private static final byte[] DATA = "data: ".getBytes(US_ASCII);

  private final byte[] publicName;

  private int modelStart;
  private int modelEnd;
  private int choices;
  private boolean finished;

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
    if (!modelDiffers()) {
      return json;
    }
    byte[] renamed = new byte[json.length - (modelEnd - modelStart) + publicName.length];
    System.arraycopy(json, 0, renamed, 0, modelStart);
    System.arraycopy(publicName, 0, renamed, modelStart, publicName.length);
    int tail = modelStart + publicName.length;
    System.arraycopy(json, modelEnd, renamed, tail, json.length - modelEnd);
    return renamed;
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
    return level == TOP ? topField() : choiceField();
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
    if (isKey(FINISH_REASON) && bytes[at] != 'n') {
      finished = true;
    }
    return value();
  }
}
