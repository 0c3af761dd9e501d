package dev.flotilla.gguf.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.GgufRefused;
import dev.flotilla.gguf.MemoryArithmetic;
import dev.flotilla.gguf.MemoryArithmetic.CacheLayout;
import dev.flotilla.gguf.TensorInfo;
import dev.flotilla.gguf.sandbox.TemplateLimits;
import dev.flotilla.gguf.sandbox.TemplateRefused;
import dev.flotilla.gguf.template.ChatTemplate;
import dev.flotilla.gguf.tokenizer.Tokenizer;
import dev.flotilla.testkit.real.SmallModel;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A real model's header with bits of it changed, and all that an engine does with a file: a result
 * or a refusal, and nothing larger than the file is made on the way.
 */
class RealHeadersMutatedTest {
  private static final int ROUNDS = 250;

  @TempDir Path folder;

  @Test
  void isReadOrRefused() throws Exception {
    Path model = SmallModel.gguf();
    GgufHeader header = GgufHeader.read(model);
    long dataStart = header.tensors().stream().mapToLong(TensorInfo::position).min().orElseThrow();
    byte[] whole = new byte[(int) dataStart];
    try (RandomAccessFile file = new RandomAccessFile(model.toFile(), "r")) {
      file.readFully(whole);
    }
    Path mutated = folder.resolve("mutated.gguf");
    try (RandomAccessFile file = new RandomAccessFile(mutated.toFile(), "rw")) {
      file.setLength(Files.size(model)); // the weights are a hole, of zeros
    }
    Random random = new Random(20260105);
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    int used = 0;
    long most = 0;
    for (int round = 0; round < ROUNDS; round++) {
      byte[] bytes = whole.clone();
      for (int change = random.nextInt(1, 5); change > 0; change--) {
        mutate(bytes, place(bytes.length, random), random);
      }
      try (RandomAccessFile file = new RandomAccessFile(mutated.toFile(), "rw")) {
        file.write(bytes);
      }
      long before = threads.getCurrentThreadAllocatedBytes();
      Optional<String> refusal = use(mutated);
      most = Math.max(most, threads.getCurrentThreadAllocatedBytes() - before);
      if (refusal.isEmpty()) {
        used++;
      } else {
        assertThat(refusal.get()).hasSizeLessThan(1000).doesNotContainPattern("\\p{Cntrl}");
      }
    }
    assertThat(used).as("some mutations are harmless").isBetween(ROUNDS / 10, ROUNDS - 10);
    assertThat(most)
        .as("bytes allocated for a header of %,d bytes", whole.length)
        .isLessThan(60L * whole.length);
  }

  /** Half of the changes hit the keys, a quarter the tensors, the others the vocabulary. */
  private static int place(int length, Random random) {
    return switch (random.nextInt(4)) {
      case 0 -> length - 9 - random.nextInt(20_000);
      case 1 -> random.nextInt(length - 9);
      default -> 4 + random.nextInt(2_000);
    };
  }

  private static void mutate(byte[] bytes, int at, Random random) {
    switch (random.nextInt(4)) {
      case 0 -> bytes[at] = (byte) random.nextInt();
      case 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
      case 2 -> Arrays.fill(bytes, at, at + 8, (byte) (random.nextBoolean() ? 0xff : 0));
      default -> System.arraycopy(bytes, random.nextInt(bytes.length - 8), bytes, at, 8);
    }
  }

  /** Why it was refused; empty where all of it could be used. */
  private static Optional<String> use(Path file) throws IOException {
    try {
      GgufHeader header = GgufHeader.read(file);
      header.architecture(List.of("llama"));
      MemoryArithmetic.weightBytes(header);
      MemoryArithmetic.cacheBytes(header, CacheLayout.plain(4096, 4));
      Tokenizer tokenizer = Tokenizer.of(header);
      assertThat(tokenizer.text(tokenizer.tokenize("Hello <|im_end|> 12 ✨", true, true)))
          .isNotNull();
      ChatTemplate.parse(
              header.metadata().text("tokenizer.chat_template").orElse(""), TemplateLimits.DEFAULTS)
          .render(
              Map.of("messages", List.of(Map.of("role", "user", "content", "Hi"))),
              Clock.systemUTC());
      try (MappedTensors tensors = MappedTensors.of(header)) {
        for (Tensor tensor : tensors.all()) {
          tensor.read(0, new float[Math.toIntExact(tensor.columns())]);
        }
      }
      return Optional.empty();
    } catch (GgufRefused | TemplateRefused e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }
}
