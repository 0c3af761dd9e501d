package dev.flotilla.engine.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class PackedStepTest {
  private final PackedStep step = new PackedStep(8, 2, 4);

  @Test
  void aChunkAndADecodeShareOneAxis() {
    step.sequence(16);
    step.block(3);
    step.block(1);
    step.row(7, false);
    step.row(8, true);
    step.sequence(2);
    step.block(0);
    step.row(9, true);
    step.checkComplete(10, 4);

    assertThat(step.rows()).isEqualTo(3);
    assertThat(step.position(1)).isEqualTo(17);
    assertThat(step.block(0, 1)).isEqualTo(1);
    assertThat(step.firstRow(1)).isEqualTo(2);
    assertThat(step.sequenceOf(2)).isEqualTo(1);
    assertThat(step.marked()).isEqualTo(2);
    assertThat(step.markedRow(0)).isEqualTo(1);
  }

  @Test
  void aTokenOrBlockOutOfRangeIsNamed() {
    step.sequence(0);
    step.block(4);
    step.row(10, true);
    assertThatThrownBy(() -> step.checkComplete(11, 4)).hasMessageContaining("names block 4 of 4");
    assertThatThrownBy(() -> step.checkComplete(10, 5)).hasMessageContaining("token 10 of 10");
  }

  @Test
  void aSequenceWithTooFewBlocksIsRefused() {
    step.sequence(16);
    step.block(0);
    step.row(1, true);
    assertThatThrownBy(() -> step.checkComplete(2, 4))
        .hasMessageContaining("16 tokens before, 1 rows and 1 blocks");
  }
}
