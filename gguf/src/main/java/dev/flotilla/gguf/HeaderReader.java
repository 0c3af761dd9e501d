package dev.flotilla.gguf;

import dev.flotilla.gguf.Metadata.Value;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Reads the header of one file. Every limit that a header must keep stands here. */
final class HeaderReader {
  private static final int MAGIC = 0x46554747; // "GGUF"

  /** Keys of one file; real models have fewer than 100. */
  private static final int KEYS_MAX = 65_536;

  /** Tensors of one file; the largest real models have some ten thousand. */
  private static final int TENSORS_MAX = 1 << 20;

  private static final int NAME_BYTES_MAX = 65_535;

  /** A text, such as a chat template. */
  private static final int TEXT_BYTES_MAX = 16 * 1024 * 1024;

  private static final int DIMENSIONS_MAX = 4;
  private static final int ALIGNMENT_DEFAULT = 32;

  private static final int TYPE_STRING = 8;
  private static final int TYPE_ARRAY = 9;

  private final Path path;
  private final Cursor cursor;
  private final Vocabulary vocabulary = new Vocabulary();

  private HeaderReader(Path path, Cursor cursor) {
    this.path = path;
    this.cursor = cursor;
  }

  /** One file's header. */
  record Part(
      Path path,
      int version,
      Metadata metadata,
      List<TensorInfo> tensors,
      int longestTokenBytes,
      long fileBytes) {
    GgufHeader header(List<Path> files, List<TensorInfo> allTensors, long allBytes) {
      return new GgufHeader(
          path, files, version, metadata, allTensors, longestTokenBytes, allBytes);
    }
  }

  static Part read(Path path) throws GgufRefused {
    if (Files.isDirectory(path)) {
      throw new GgufRefused(path, "is a folder, not a model file");
    }
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      return new HeaderReader(path, new Cursor(path, channel)).part();
    } catch (NoSuchFileException e) {
      throw new GgufRefused(path, "there is no such file");
    } catch (IOException e) {
      throw new GgufRefused(
          path, "can't be read: " + GgufRefused.printable(String.valueOf(e.getMessage())));
    }
  }

  private Part part() throws IOException, GgufRefused {
    if (cursor.size() == 0) {
      throw new GgufRefused(path, "is empty");
    }
    if (cursor.size() < 4 || cursor.i32() != MAGIC) {
      throw new GgufRefused(path, "is not a GGUF file: it does not begin with the letters GGUF");
    }
    int version = version();
    long tensorCount = count("tensors", TENSORS_MAX);
    long keyCount = count("keys", KEYS_MAX);
    Map<String, Value> values = LinkedHashMap.newLinkedHashMap(64);
    for (long i = 0; i < keyCount; i++) {
      String key = cursor.string("the name of key " + (i + 1), NAME_BYTES_MAX);
      Value value = value(key, cursor.i32());
      if (values.put(key, value) != null) {
        throw new GgufRefused(path, "has the key " + GgufRefused.printable(key) + " twice");
      }
    }
    Metadata metadata = new Metadata(values);
    List<TensorInfo> tensors = tensors(tensorCount, alignment(metadata));
    return new Part(
        path,
        version,
        metadata,
        tensors,
        vocabulary.longestTokenBytes(metadata.text("tokenizer.ggml.model").orElse("")),
        cursor.size());
  }

  private int version() throws IOException, GgufRefused {
    int version = cursor.i32();
    if (version == 2 || version == 3) {
      return version;
    }
    int swapped = Integer.reverseBytes(version);
    if (swapped == 2 || swapped == 3) {
      throw new GgufRefused(path, "is big-endian; only little-endian files are read");
    }
    throw new GgufRefused(
        path,
        "has GGUF version %s; versions 2 and 3 are read"
            .formatted(Integer.toUnsignedString(version)));
  }

  private long count(String what, int max) throws IOException, GgufRefused {
    long count = cursor.i64();
    if (count < 0 || count > max) {
      throw new GgufRefused(
          path,
          "speaks of %s %s, at most %,d are read"
              .formatted(Long.toUnsignedString(count), what, max));
    }
    return count;
  }

  private Value value(String key, int type) throws IOException, GgufRefused {
    return switch (type) {
      case 0 -> new Value.Whole(cursor.u8());
      case 1 -> new Value.Whole((byte) cursor.u8());
      case 2 -> new Value.Whole(cursor.u16());
      case 3 -> new Value.Whole((short) cursor.u16());
      case 4 -> new Value.Whole(Integer.toUnsignedLong(cursor.i32()));
      case 5 -> new Value.Whole(cursor.i32());
      case 6 -> new Value.Real(Float.intBitsToFloat(cursor.i32()));
      case 7 -> new Value.Truth(cursor.u8() != 0);
      case TYPE_STRING ->
          new Value.Text(cursor.string("the value of " + shown(key), TEXT_BYTES_MAX));
      case TYPE_ARRAY -> array(key);
      case 10, 11 -> new Value.Whole(cursor.i64());
      case 12 -> new Value.Real(Double.longBitsToDouble(cursor.i64()));
      default -> throw unknownType(key, type);
    };
  }

  private Value array(String key) throws IOException, GgufRefused {
    int type = cursor.i32();
    long elements = cursor.i64();
    int width =
        switch (type) {
          case 0, 1, 7 -> 1;
          case 2, 3 -> 2;
          case 4, 5, 6 -> 4;
          case TYPE_STRING, 10, 11, 12 -> 8;
          default -> throw unknownType(key, type);
        };
    String what = "the array " + shown(key);
    long position = cursor.position();
    // A string is at least its length of eight bytes, so no array is longer than the file.
    if (elements < 0 || elements > cursor.remaining() / width) {
      throw new GgufRefused(
          path,
          "truncated or damaged: %s speaks of %s elements, the file has %,d bytes"
              .formatted(what, Long.toUnsignedString(elements), cursor.size()));
    }
    if (type == TYPE_STRING) {
      strings(key, elements, what);
      return new Value.Counted(elements, type, position);
    }
    if (key.equals(Vocabulary.TYPES_KEY) && width == 4) {
      for (long i = 0; i < elements; i++) {
        vocabulary.type(i, cursor.i32());
      }
      return new Value.Counted(elements, type, position);
    }
    if (elements > Metadata.KEPT_ELEMENTS_MAX || type == 6 || type == 12) {
      cursor.skip(elements * width, what);
      return new Value.Counted(elements, type, position);
    }
    long[] numbers = new long[(int) elements];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] =
          switch (value(key, type)) {
            case Value.Whole whole -> whole.number();
            case Value.Truth truth -> truth.truth() ? 1 : 0;
            default -> throw unknownType(key, type);
          };
    }
    return new Value.Wholes(numbers);
  }

  private void strings(String key, long elements, String what) throws IOException, GgufRefused {
    boolean tokens = key.equals(Vocabulary.TOKENS_KEY);
    for (long i = 0; i < elements; i++) {
      if (tokens) {
        vocabulary.token(cursor.string(what, NAME_BYTES_MAX));
      } else {
        cursor.skip(cursor.stringLength(what, TEXT_BYTES_MAX), what);
      }
    }
  }

  private long alignment(Metadata metadata) throws GgufRefused {
    long alignment = metadata.integer("general.alignment").orElse(ALIGNMENT_DEFAULT);
    if (alignment <= 0 || alignment > 1 << 20 || Long.bitCount(alignment) != 1) {
      throw new GgufRefused(
          path, "has the alignment %d; it must be a power of two up to 1 MiB".formatted(alignment));
    }
    return alignment;
  }

  private List<TensorInfo> tensors(long count, long alignment) throws IOException, GgufRefused {
    List<Raw> raws = new ArrayList<>((int) Math.min(count, 4096));
    Set<String> names = new HashSet<>();
    for (long i = 0; i < count; i++) {
      Raw raw = raw(i, alignment);
      if (!names.add(raw.name)) {
        throw new GgufRefused(path, "has the tensor " + shown(raw.name) + " twice");
      }
      raws.add(raw);
    }
    long dataStart = Math.ceilDiv(cursor.position(), alignment) * alignment;
    long dataBytes = Math.max(0, cursor.size() - dataStart);
    TreeSet<Long> offsets = new TreeSet<>();
    raws.forEach(raw -> offsets.add(raw.offset));
    List<TensorInfo> tensors = new ArrayList<>(raws.size());
    for (Raw raw : raws) {
      if (raw.offset > dataBytes || raw.bytes > dataBytes - raw.offset) {
        throw new GgufRefused(
            path,
            "truncated: the header speaks of %,d bytes, the file has %,d"
                .formatted(end(dataStart, raws), cursor.size()));
      }
      Long next = offsets.higher(raw.offset);
      long bytes =
          raw.bytes >= 0
              ? raw.bytes
              : (next == null ? dataBytes : Math.min(next, dataBytes)) - raw.offset;
      tensors.add(new TensorInfo(raw.name, raw.dims, raw.type, 0, dataStart + raw.offset, bytes));
    }
    checkApart(tensors);
    return tensors;
  }

  /** No byte belongs to two tensors. */
  private void checkApart(List<TensorInfo> tensors) throws GgufRefused {
    List<TensorInfo> inOrder = new ArrayList<>(tensors);
    inOrder.sort(Comparator.comparingLong(TensorInfo::position));
    TensorInfo before = null;
    for (TensorInfo tensor : inOrder) {
      if (before != null && before.position() + before.bytes() > tensor.position()) {
        throw new GgufRefused(
            path,
            "the tensors %s and %s overlap".formatted(shown(before.name()), shown(tensor.name())));
      }
      before = tensor;
    }
  }

  /** Where the last tensor would end, as far as a long can say. */
  private static long end(long dataStart, List<Raw> raws) {
    long end = 0;
    for (Raw raw : raws) {
      end = Math.max(end, saturated(raw.offset, Math.max(0, raw.bytes)));
    }
    return saturated(end, dataStart);
  }

  private static long saturated(long a, long b) {
    return a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b;
  }

  /**
   * A tensor before its place is checked.
   *
   * @param bytes -1 where the type is unknown
   */
  private record Raw(String name, List<Long> dims, int type, long offset, long bytes) {}

  private Raw raw(long index, long alignment) throws IOException, GgufRefused {
    String name = cursor.string("the name of tensor " + (index + 1), NAME_BYTES_MAX);
    int dimensions = cursor.i32();
    if (dimensions < 1 || dimensions > DIMENSIONS_MAX) {
      throw new GgufRefused(
          path,
          "the tensor %s has %s dimensions, there are 1 to %d"
              .formatted(shown(name), Integer.toUnsignedString(dimensions), DIMENSIONS_MAX));
    }
    List<Long> dims = new ArrayList<>(dimensions);
    for (int d = 0; d < dimensions; d++) {
      dims.add(cursor.i64());
    }
    int type = cursor.i32();
    long offset = cursor.i64();
    if (offset < 0 || offset % alignment != 0) {
      throw new GgufRefused(
          path,
          "the tensor %s begins at %s, which is no multiple of %d"
              .formatted(shown(name), Long.toUnsignedString(offset), alignment));
    }
    return new Raw(name, dims, type, offset, bytes(name, dims, type));
  }

  private long bytes(String name, List<Long> dims, int typeId) throws GgufRefused {
    TensorType type = TensorType.of(typeId).orElse(null);
    try {
      long rows = 1;
      for (long dim : dims) {
        if (dim < 1) {
          throw new GgufRefused(
              path, "the tensor %s has a dimension of %d".formatted(shown(name), dim));
        }
      }
      for (long dim : dims.subList(1, dims.size())) {
        rows = Math.multiplyExact(rows, dim);
      }
      if (type == null) {
        return -1;
      }
      if (dims.getFirst() % type.blockElements() != 0) {
        throw new GgufRefused(
            path,
            "the tensor %s of type %s has rows of %,d elements, which is no multiple of %d"
                .formatted(shown(name), type, dims.getFirst(), type.blockElements()));
      }
      return Math.multiplyExact(rows, type.rowBytes(dims.getFirst()));
    } catch (ArithmeticException e) {
      throw new GgufRefused(path, "the tensor " + shown(name) + " has more bytes than any file");
    }
  }

  private GgufRefused unknownType(String key, int type) {
    return new GgufRefused(
        path,
        "the key %s has the unknown value type %s"
            .formatted(shown(key), Integer.toUnsignedString(type)));
  }

  private static String shown(String name) {
    return "'" + GgufRefused.printable(name) + "'";
  }
}
