package dev.flotilla.gguf;

import dev.flotilla.gguf.Metadata.Value;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Reads the long arrays of a header, which {@link HeaderReader} only counts: most readers of a
 * header have no use for them, and a vocabulary is most of it. Lengths are checked again, since the
 * file may have changed since.
 */
final class ArrayReader {
  private static final int STRING_BYTES_MAX = 65_535;
  private static final int TYPE_U32 = 4;
  private static final int TYPE_I32 = 5;
  private static final int TYPE_F32 = 6;
  private static final int TYPE_STRING = 8;

  private ArrayReader() {}

  static StringTable texts(GgufHeader header, String key) throws GgufRefused {
    StringTable table = new StringTable();
    read(
        header,
        key,
        TYPE_STRING,
        "texts",
        (cursor, elements) -> {
          for (long i = 0; i < elements; i++) {
            String what = "the array '" + key + "'";
            byte[] string = cursor.bytes(cursor.stringLength(what, STRING_BYTES_MAX));
            table.add(string, 0, string.length);
          }
        });
    return table;
  }

  static float[] floats(GgufHeader header, String key) throws GgufRefused {
    float[][] floats = {new float[0]};
    read(
        header,
        key,
        TYPE_F32,
        "floats",
        (cursor, elements) -> {
          floats[0] = new float[Math.toIntExact(elements)];
          for (int i = 0; i < elements; i++) {
            floats[0][i] = Float.intBitsToFloat(cursor.i32());
          }
        });
    return floats[0];
  }

  static int[] ints(GgufHeader header, String key) throws GgufRefused {
    if (header.metadata().value(key) instanceof Value.Wholes wholes) {
      int[] ints = new int[wholes.numbers().length];
      for (int i = 0; i < ints.length; i++) {
        ints[i] = (int) wholes.numbers()[i];
      }
      return ints;
    }
    int[][] ints = {new int[0]};
    read(
        header,
        key,
        TYPE_I32,
        "whole numbers",
        (cursor, elements) -> {
          ints[0] = new int[Math.toIntExact(elements)];
          for (int i = 0; i < elements; i++) {
            ints[0][i] = cursor.i32();
          }
        });
    return ints[0];
  }

  /** What takes the elements, with the cursor at the first. */
  private interface Elements {
    void take(Cursor cursor, long elements) throws IOException, GgufRefused;
  }

  private static void read(GgufHeader header, String key, int type, String what, Elements elements)
      throws GgufRefused {
    @Nullable Value value = header.metadata().value(key);
    if (value == null) {
      return;
    }
    Path file = header.file();
    if (!(value instanceof Value.Counted array)
        || (array.type() != type && !(array.type() == TYPE_U32 && type == TYPE_I32))) {
      throw new GgufRefused(file, "the key '%s' holds no array of %s".formatted(key, what));
    }
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      Cursor cursor = new Cursor(file, channel);
      String name = "the array '" + key + "'";
      cursor.skip(array.position(), name);
      cursor.require(Math.multiplyExact(array.elements(), type == TYPE_STRING ? 8L : 4L), name);
      elements.take(cursor, array.elements());
    } catch (IOException e) {
      throw new GgufRefused(
          file, "can't be read: " + GgufRefused.printable(String.valueOf(e.getMessage())));
    }
  }
}
