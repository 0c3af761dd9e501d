package dev.flotilla.engine.model;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.flotilla.engine.kernel.Workers;
import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.testkit.real.SmallModel;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A token after the same tokens has the same logits in every bit, however steps are packed. */
class BatchInvarianceTest {
  private static final List<Integer> TEXT = new ArrayList<>();

  static {
    for (int i = 0; i < 45; i++) {
      TEXT.add(1000 + 37 * i);
    }
  }

  @ParameterizedTest
  @EnumSource(KvType.class)
  void aloneInChunksAndBesideOthers(KvType type) throws Exception {
    try (Workers workers = new Workers(2);
        LoadedModel model =
            LoadedModel.load(ModelOutline.of(GgufHeader.read(SmallModel.gguf())), workers);
        Transformer runner = new Transformer(model, type, 12, 64, workers)) {
      float[] whole = new Conversation(runner).say(TEXT).clone();

      Conversation chunks = new Conversation(runner);
      chunks.say(TEXT.subList(0, 7));
      chunks.say(TEXT.subList(7, 29));
      chunks.say(TEXT.subList(29, 44));
      assertThat(chunks.say(TEXT.subList(44, 45))).containsExactly(whole);

      PackedStep step = new PackedStep(64, 2, 4);
      step.sequence(0);
      step.block(5);
      for (int i = 0; i < 13; i++) {
        step.row(500 + i, i == 3);
      }
      step.sequence(0);
      step.block(2);
      step.block(9);
      step.block(0);
      for (int i = 0; i < TEXT.size(); i++) {
        step.row(TEXT.get(i), i == TEXT.size() - 1);
      }
      Logits logits = new Logits(2, runner.vocabulary());
      runner.run(step, logits);
      assertThat(logits.row(1)).containsExactly(whole);
    }
  }

  @Test
  void aVectorIsTheSameInChunksAndBesideAnswers() throws Exception {
    try (Workers workers = new Workers(2);
        LoadedModel model =
            LoadedModel.load(ModelOutline.of(GgufHeader.read(SmallModel.gguf())), workers);
        Transformer runner = new Transformer(model, KvType.F16, 12, 64, workers)) {
      PackedStep step = new PackedStep(64, 3, 4);
      Logits logits = new Logits(3, runner.vocabulary());
      double[] whole = new double[runner.width()];
      rows(step, whole, 0, TEXT.size());
      runner.run(step, logits);
      assertThat(logits.rows()).isZero();

      double[] chunks = new double[runner.width()];
      rows(step, chunks, 0, 19);
      runner.run(step, logits);
      rows(step, chunks, 19, TEXT.size());
      step.sequence(0);
      step.block(7);
      for (int i = 0; i < 13; i++) {
        step.row(500 + i, i == 12);
      }
      runner.run(step, logits);
      assertThat(chunks).containsExactly(whole);
      Conversation beside = new Conversation(runner);
      List<Integer> said = IntStream.range(500, 513).boxed().toList();
      assertThat(logits.row(0)).containsExactly(beside.say(said));
    }
  }

  private static void rows(PackedStep step, double[] sum, int from, int to) {
    step.clear();
    step.sequence(from);
    step.pool(sum);
    for (int block = 0; block < KvLayout.blocksFor(to); block++) {
      step.block(block);
    }
    for (int i = from; i < to; i++) {
      step.row(TEXT.get(i), true);
    }
  }

  @Test
  void aStepAllocatesNothing() throws Exception {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    try (Workers workers = new Workers(1);
        LoadedModel model =
            LoadedModel.load(ModelOutline.of(GgufHeader.read(SmallModel.gguf())), workers);
        Transformer runner = new Transformer(model, KvType.F16, 4, 32, workers)) {
      PackedStep step = new PackedStep(32, 1, 4);
      Logits logits = new Logits(1, runner.vocabulary());
      long least = Long.MAX_VALUE;
      // until the compilers have seen enough to keep vectors in registers
      for (int i = 0; i < 400 && least > 0; i++) {
        step.clear();
        step.sequence(16);
        step.block(0);
        step.block(1);
        step.row(TEXT.get(i % TEXT.size()), true);
        long before = threads.getCurrentThreadAllocatedBytes();
        runner.run(step, logits);
        least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
      }
      assertThat(least).isZero();
    }
  }
}
