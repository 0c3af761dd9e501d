package dev.flotilla.gguf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.testkit.model.GgufWriter;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a person reads about a file that is not a usable model. */
class BadFilesTest {
  @TempDir Path folder;

  @Test
  void aFileThatIsNotThere() {
    assertRefused(folder.resolve("gone.gguf"), "gone.gguf: there is no such file");
  }

  @Test
  void aFolder() {
    assertRefused(folder, "is a folder, not a model file");
  }

  @Test
  void anEmptyFile() throws IOException {
    assertRefused(file(new byte[0]), "is empty");
  }

  @Test
  void anotherKindOfFile() throws IOException {
    assertRefused(file("<html>404</html>".getBytes(StandardCharsets.UTF_8)), "is not a GGUF file");
    assertRefused(file(new byte[] {'G'}), "is not a GGUF file");
  }

  @Test
  void anotherVersion() throws IOException {
    assertRefused(file(GgufWriter.tinyLlama().version(1).bytes()), "has GGUF version 1");
    assertRefused(file(GgufWriter.tinyLlama().version(3 << 24).bytes()), "is big-endian");
  }

  @Test
  void aDownloadThatStoppedInTheWeights() throws IOException {
    byte[] whole = GgufWriter.tinyLlama().bytes();
    int padding = 20; // behind the last tensor's 204 bytes
    assertRefused(
        file(Arrays.copyOf(whole, whole.length - 100)),
        "truncated: the header speaks of %,d bytes, the file has %,d"
            .formatted(whole.length - padding, whole.length - 100));
  }

  @Test
  void aDownloadThatStoppedAnywhere() throws IOException {
    byte[] whole = GgufWriter.tinyLlama().bytes();
    for (int length = 1; length < whole.length - 64; length += 7) {
      Path cut = file(Arrays.copyOf(whole, length));
      assertThatThrownBy(() -> GgufHeader.read(cut)).isInstanceOf(GgufRefused.class);
    }
  }

  @Test
  void countsBeyondAllMeasure() throws IOException {
    assertRefused(
        file(GgufWriter.tinyLlama().header(-1, 1).toByteArray()),
        "speaks of 18446744073709551615 tensors");
    assertRefused(
        file(GgufWriter.tinyLlama().header(1, 1L << 40).toByteArray()),
        "speaks of 1099511627776 keys");
  }

  @Test
  void aValueOfAnUnknownType() throws IOException {
    assertRefused(
        file(new GgufWriter().raw("odd", 13).bytes()),
        "the key 'odd' has the unknown value type 13");
    assertRefused(
        file(new GgufWriter().raw("nested", 9, array(9, 1)).bytes()),
        "the key 'nested' has the unknown value type 9");
  }

  @Test
  void anArrayLongerThanTheFile() throws IOException {
    assertRefused(
        file(new GgufWriter().raw("long", 9, array(4, Long.MAX_VALUE)).bytes()),
        "the array 'long' speaks of 9223372036854775807 elements");
  }

  @Test
  void aKeyTwice() throws IOException {
    assertRefused(file(new GgufWriter().u32("a", 1).u32("a", 2).bytes()), "has the key a twice");
  }

  @Test
  void anAlignmentThatIsNone() throws IOException {
    assertRefused(
        file(new GgufWriter().u32("general.alignment", 0).bytes()), "has the alignment 0");
    assertRefused(
        file(new GgufWriter().u32("general.alignment", 24).bytes()), "has the alignment 24");
  }

  @Test
  void tensorsThatCannotBe() throws IOException {
    assertRefused(
        file(new GgufWriter().tensorAt("t", 0, 0, 1L << 40, 1L << 40).bytes()),
        "the tensor 't' has more bytes than any file");
    assertRefused(file(new GgufWriter().tensorAt("t", 8, 0, 33).bytes()), "no multiple of 32");
    assertRefused(file(new GgufWriter().tensorAt("t", 0, 0, 0).bytes()), "has a dimension of 0");
    assertRefused(
        file(new GgufWriter().tensorAt("t", 0, 7, 8).bytes()), "which is no multiple of 32");
    assertRefused(
        file(new GgufWriter().tensorAt("t", 0, 0, 1, 1, 1, 1, 1).bytes()), "has 5 dimensions");
    assertRefused(
        file(new GgufWriter().tensorAt("t", 0, 0, 8).tensorAt("t", 0, 0, 8).bytes()),
        "has the tensor 't' twice");
    assertRefused(
        file(new GgufWriter().tensor("t", 0, 16).tensorAt("u", 0, 32, 8).bytes()),
        "the tensors 't' and 'u' overlap");
  }

  @Test
  void aNameFullOfControlCharactersIsShownWithoutThem() throws IOException {
    assertRefused(
        file(new GgufWriter().raw("a\u001b[31m\n" + "x".repeat(500), 99).bytes()),
        "the key 'a?[31m?xxx");
  }

  /** Whatever the bytes are: a value or a refusal, and nothing larger than the file is made. */
  @Test
  void mutatedHeadersAreRefusedOrRead() throws IOException {
    byte[] whole = GgufWriter.tinyLlama().bytes();
    Random random = new Random(20260101);
    Path file = folder.resolve("mutated.gguf");
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long most = 0;
    int read = 0;
    for (int round = 0; round < 5000; round++) {
      byte[] bytes = whole.clone();
      for (int change = random.nextInt(1, 6); change > 0; change--) {
        int at = random.nextInt(4, 700);
        switch (random.nextInt(3)) {
          case 0 -> bytes[at] = (byte) random.nextInt();
          case 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
          default -> Arrays.fill(bytes, at, at + 8, (byte) (random.nextBoolean() ? 0xff : 0));
        }
      }
      Files.write(file, bytes);
      long before = threads.getCurrentThreadAllocatedBytes();
      try {
        GgufHeader header = GgufHeader.read(file);
        MemoryArithmetic.weightBytes(header);
        MemoryArithmetic.cacheBytes(header, MemoryArithmetic.CacheLayout.plain(4096, 4));
        read++;
      } catch (GgufRefused e) {
        assertThat(e).hasMessageContaining("mutated.gguf: ");
      }
      most = Math.max(most, threads.getCurrentThreadAllocatedBytes() - before);
    }
    assertThat(read).as("some mutations are harmless").isPositive();
    assertThat(most).as("bytes allocated for a file of %d", whole.length).isLessThan(4_000_000);
  }

  private Path file(byte[] bytes) throws IOException {
    return Files.write(folder.resolve("m.gguf"), bytes);
  }

  private static byte[] array(int type, long elements) {
    return ByteBuffer.allocate(12)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(type)
        .putLong(elements)
        .array();
  }

  private static void assertRefused(Path file, String reason) {
    assertThatThrownBy(() -> GgufHeader.read(file))
        .isInstanceOf(GgufRefused.class)
        .hasMessageContaining(reason);
  }
}
