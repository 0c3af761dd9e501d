package dev.flotilla.engine.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.engine.kernel.Workers;
import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.GgufRefused;
import dev.flotilla.gguf.TensorInfo;
import dev.flotilla.testkit.model.GgufKeys;
import dev.flotilla.testkit.model.GgufWriter;
import dev.flotilla.testkit.model.RandomBlocks;
import dev.flotilla.testkit.model.RandomModel;
import dev.flotilla.testkit.model.RandomModel.Family;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Model files with wrong bits, and all that the engine does with a file: it is refused with a
 * reason, or a step of it is computed, whatever that says.
 */
class BadModelsTest {
  private static final int ROUNDS = 60;

  @TempDir private Path folder;

  @Test
  void aFileWithWrongBitsIsRefusedOrComputed() throws Exception {
    Path file = RandomModel.small(Family.QWEN_3, folder.resolve("m.gguf"), 3, RandomBlocks.Q4_K);
    byte[] right = Files.readAllBytes(file);
    int data =
        GgufHeader.read(file).tensors().stream()
            .mapToInt(tensor -> (int) tensor.position())
            .min()
            .orElseThrow();
    Random random = new Random(20260106);
    int computed = 0;
    try (Workers workers = new Workers(2)) {
      for (int round = 0; round < ROUNDS; round++) {
        int at =
            switch (random.nextInt(3)) {
              case 0 -> 24 + random.nextInt(1_000); // the numbers of the model
              case 1 -> data - 16 - random.nextInt(3_000); // the tensors
              default -> data + random.nextInt(right.length - data - 8); // the weights
            };
        byte[] changed = change(right, at, random);
        try (RandomAccessFile whole = new RandomAccessFile(file.toFile(), "rw")) {
          whole.seek(at);
          whole.write(changed);
          Optional<String> refusal = compute(file, workers);
          whole.seek(at);
          whole.write(right, at, changed.length);
          if (refusal.isEmpty()) {
            computed++;
          } else {
            assertThat(refusal.get()).hasSizeLessThan(1000).doesNotContainPattern("\\p{Cntrl}");
          }
        }
      }
    }
    assertThat(computed).as("files that could be computed").isBetween(ROUNDS / 5, ROUNDS - 5);
  }

  private static byte[] change(byte[] right, int at, Random random) {
    return switch (random.nextInt(3)) {
      case 0 -> new byte[] {(byte) random.nextInt()};
      case 1 -> new byte[] {(byte) (right[at] ^ 1 << random.nextInt(8))};
      default -> random.nextBoolean() ? new byte[8] : new byte[] {-1, -1, -1, -1, -1, -1, -1, -1};
    };
  }

  @Test
  void aFileThatWasCutShortIsRefused() throws Exception {
    Path file = RandomModel.small(Family.LLAMA_3, folder.resolve("m.gguf"), 4, RandomBlocks.Q8_0);
    long bytes = Files.size(file);
    try (Workers workers = new Workers(1)) {
      for (long length : new long[] {bytes - 1, bytes / 2, 1_000_000, 500, 3, 0}) {
        try (var channel = Files.newByteChannel(file, StandardOpenOption.WRITE)) {
          channel.truncate(length);
        }
        assertThat(compute(file, workers)).as("%d of %d bytes", length, bytes).isPresent();
      }
    }
  }

  @Test
  void headsThatTheWeightsDoNotHaveAreRefusedBeforeACacheIsMadeForThem() throws Exception {
    Path file = RandomModel.small(Family.QWEN_2, folder.resolve("m.gguf"), 6, RandomBlocks.Q4_0);
    Path wrong = folder.resolve("wrong.gguf");
    Map<String, Integer> heads =
        Stream.of(
                "attention.head_count",
                "attention.head_count_kv",
                "attention.key_length",
                "attention.value_length",
                "rope.dimension_count")
            .collect(Collectors.toMap(key -> "qwen2." + key, _ -> 1 << 16));
    rewrite(file, wrong, heads); // 2^16 heads of 2^16 numbers: more than an int counts

    assertThatThrownBy(() -> ModelOutline.of(GgufHeader.read(wrong)))
        .isInstanceOf(ModelRefused.class)
        .hasMessageContaining("blk.0.attn_q.weight has the dimensions");
  }

  private static void rewrite(Path file, Path to, Map<String, Integer> numbers) throws Exception {
    GgufWriter changed = new GgufWriter();
    GgufKeys.of(file, "")
        .forEach((key, value) -> {
          if (!numbers.containsKey(key)) {
            changed.raw(key, value.type(), value.bytes());
          }
        });
    numbers.forEach(changed::u32);
    copyTensors(file, changed);
    changed.write(to);
  }

  private static void copyTensors(Path file, GgufWriter to) throws Exception {
    for (TensorInfo tensor : GgufHeader.read(file).tensors()) {
      long[] dims = tensor.dims().stream().mapToLong(Long::longValue).toArray();
      to.tensor(tensor.name(), tensor.typeId(), dims);
    }
  }

  @Test
  void aVocabularyThatIsNotTheWeightsIsRefusedWithBothNumbers() throws Exception {
    Path file = RandomModel.small(Family.QWEN_2, folder.resolve("m.gguf"), 5, RandomBlocks.Q4_0);
    GgufWriter shorter = new GgufWriter();
    GgufKeys.of(file, "")
        .forEach((key, value) -> {
          if (key.equals("tokenizer.ggml.tokens")) {
            shorter.texts(key, List.of("a", "b"));
          } else {
            shorter.raw(key, value.type(), value.bytes());
          }
        });
    copyTensors(file, shorter);
    Path wrong = shorter.write(folder.resolve("wrong.gguf"));
    try (Workers workers = new Workers(1)) {
      assertThatThrownBy(
              () -> LoadedModel.load(ModelOutline.of(GgufHeader.read(wrong)), workers).close())
          .isInstanceOf(ModelRefused.class)
          .hasMessageContaining("2 tokens")
          .hasMessageContaining("49152");
    }
  }

  /** Why it was refused; empty where a step of it was computed. */
  private static Optional<String> compute(Path file, Workers workers) throws IOException {
    // in the order of a start: cache and miniature are made before the weights are read
    try (KvCache cache =
            new KvCache(ModelOutline.of(GgufHeader.read(file)).kvLayout(KvType.F16), 2);
        LoadedModel miniature = LoadedModel.miniature(ModelOutline.of(GgufHeader.read(file)));
        Transformer first = new Transformer(miniature, KvType.F16, 2, 8, workers);
        LoadedModel model = LoadedModel.load(ModelOutline.of(GgufHeader.read(file)), workers);
        Transformer runner = new Transformer(model, KvType.F16, 2, 8, workers)) {
      assertThat(cache.pages().bytes()).isEqualTo(runner.pages().bytes());
      new Conversation(first).say(List.of(1, 2, 3));
      new Conversation(runner).say(List.of(1, 2, 3));
      return Optional.empty();
    } catch (GgufRefused | ModelRefused refused) {
      return Optional.of(String.valueOf(refused.getMessage()));
    }
  }
}
