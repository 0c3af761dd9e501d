package dev.flotilla.engine.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.engine.kernel.Workers;
import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.testkit.model.RandomBlocks;
import dev.flotilla.testkit.model.RandomModel;
import dev.flotilla.testkit.model.RandomModel.Family;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is compiled while a model is read is what the model's steps run. */
class MiniatureTest {
  @TempDir private Path folder;

  @ParameterizedTest
  @EnumSource(Family.class)
  void aMiniatureOfEachFamilyIsComputedAsTheModelIs(Family family) throws Exception {
    Path file = RandomModel.small(family, folder.resolve("m.gguf"), 9, RandomBlocks.Q4_K);
    GgufHeader header = GgufHeader.read(file);
    try (Workers workers = new Workers(1);
        LoadedModel model = LoadedModel.load(ModelOutline.of(header), workers);
        LoadedModel miniature = LoadedModel.miniature(ModelOutline.of(header));
        Transformer runner = new Transformer(miniature, KvType.F16, 8, 8, workers)) {
      float[] logits = new Conversation(runner).say(List.of(1, 2, 3));

      for (float logit : logits) {
        assertThat(logit).isFinite();
      }
      assertThat(ModelOutline.of(header).weightBytes()).isEqualTo(model.weightBytes());
      ModelShape small = miniature.shape();
      ModelShape whole = model.shape();
      assertThat(small.layers()).isEqualTo(whole.layers().subList(0, small.layers().size()));
      assertThat(small.headSize()).isEqualTo(whole.headSize());
      assertThat(small.groupHeads()).isEqualTo(whole.groupHeads());
      assertThat(small.gelu()).isEqualTo(whole.gelu());
      assertThat(miniature.weightBytes()).isLessThanOrEqualTo(model.weightBytes());
    }
  }
}
