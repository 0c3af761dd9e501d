package dev.flotilla.testkit.model;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;

/** The keys of a model file that is right, as they lie in it, to be written into another. */
public final class GgufKeys {
  private static final int TEXT = 8;
  private static final int ARRAY = 9;
  private static final int KEYS_BYTES_MAX = 64 << 20;

  /** Bytes of the values of types 0 to 12; texts and arrays have no fixed size. */
  private static final int[] SIZES = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

  private final ByteBuffer file;

  private GgufKeys(ByteBuffer file) {
    this.file = file;
  }

  /** One value, as its type's number and its bytes. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Value(int type, byte[] bytes) {
    /** An array with as many elements more, of which {@code more} is the bytes. */
    Value extended(int count, byte[] more) {
      ByteBuffer longer = ByteBuffer.allocate(bytes.length + more.length);
      longer.order(ByteOrder.LITTLE_ENDIAN).put(bytes).put(more);
      longer.putLong(4, longer.getLong(4) + count);
      return new Value(type, longer.array());
    }

    /** Elements of an array. */
    int count() {
      return (int) ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong(4);
    }
  }

  /** The keys of a file that begin so, in its order. */
  public static Map<String, Value> of(Path path, String prefix) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      long size = Math.min(channel.size(), KEYS_BYTES_MAX);
      ByteBuffer file =
          channel.map(FileChannel.MapMode.READ_ONLY, 0, size).order(ByteOrder.LITTLE_ENDIAN);
      return new GgufKeys(file).read(prefix);
    }
  }

  private Map<String, Value> read(String prefix) {
    file.position(16);
    long keys = file.getLong();
    Map<String, Value> values = new LinkedHashMap<>();
    for (long i = 0; i < keys; i++) {
      String key = new String(bytes((int) file.getLong()), StandardCharsets.UTF_8);
      int type = file.getInt();
      int from = file.position();
      skip(type);
      byte[] value = new byte[file.position() - from];
      file.get(from, value);
      if (key.startsWith(prefix)) {
        values.put(key, new Value(type, value));
      }
    }
    return values;
  }

  private byte[] bytes(int count) {
    byte[] bytes = new byte[count];
    file.get(bytes);
    return bytes;
  }

  private void skip(int type) {
    if (type == TEXT) {
      forward(file.getLong());
    } else if (type == ARRAY) {
      int of = file.getInt();
      long count = file.getLong();
      for (long i = 0; of == TEXT && i < count; i++) {
        forward(file.getLong());
      }
      forward(count * SIZES[of]);
    } else {
      forward(SIZES[type]);
    }
  }

  private void forward(long bytes) {
    file.position(Math.toIntExact(file.position() + bytes));
  }
}
