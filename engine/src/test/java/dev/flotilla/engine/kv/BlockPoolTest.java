package dev.flotilla.engine.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class BlockPoolTest {
  private static final int[] STORY = {1, 2, 3, 4, 5, 6, 7, 8, 9};

  private final BlockPool pool = new BlockPool(4, 2);

  @Test
  void aSecondSequenceUsesWhatTheFirstComputed() {
    BlockTable first = computed(-1, STORY, 9, 5);
    BlockTable second = new BlockTable(pool, -1);
    assertThat(second.adopt(STORY, 8)).as("the full blocks of five computed tokens").isEqualTo(4);
    assertThat(second.ids()[1]).isEqualTo(first.ids()[1]);
    check(first, second);
  }

  @Test
  void sequencesOfDifferentRootsShareNothing() {
    BlockTable first = computed(-1, STORY, 6, 6);
    BlockTable second = new BlockTable(pool, -2);
    assertThat(second.adopt(STORY, 6)).isZero();
    check(first, second);
  }

  @Test
  void theSameTokensAfterOthersAreAnotherContent() {
    BlockTable first = computed(-1, new int[] {1, 2, 7, 7}, 4, 4);
    first.release();
    BlockTable second = new BlockTable(pool, -1);
    assertThat(second.adopt(new int[] {3, 3, 7, 7}, 4)).isZero();
    assertThat(second.adopt(new int[] {7, 7, 7, 7}, 4)).isZero();
    check(second);
  }

  @Test
  void whatWasUsedLastIsForgottenLast() {
    BlockTable first = computed(-1, STORY, 6, 6);
    first.release();
    BlockTable other = new BlockTable(pool, -1);
    assertThat(other.extend(4)).isTrue();
    assertThat(other.cached(STORY, 6))
        .as("two blocks were taken: the one that held nothing, and the last of the first sequence")
        .isEqualTo(4);
    check(first, other);
  }

  @Test
  void aTableThatCantGrowIsAsItWas() {
    BlockTable first = computed(-1, STORY, 5, 0);
    BlockTable second = new BlockTable(pool, -1);
    assertThat(second.extend(3)).isFalse();
    assertThat(second.size()).isZero();
    check(first, second);
    assertThat(second.extend(2)).isTrue();
    assertThatThrownBy(pool::take).hasMessageContaining("all 4 blocks are held");
    check(first, second);
  }

  @Test
  void equalBlocksOfTwoThatComputedAtOnceAreOneContent() {
    BlockTable first = computed(-1, STORY, 4, 0);
    BlockTable second = computed(-1, STORY, 4, 0);
    first.publish(STORY, 4);
    second.publish(STORY, 4);
    check(first, second);
    first.release();
    second.release();
    check();
    assertThat(new BlockTable(pool, -1).adopt(STORY, 4)).isEqualTo(4);
  }

  @Test
  void whatIsForgottenIsNotFound() {
    BlockTable first = computed(-1, STORY, 6, 6);
    first.release();
    pool.forgetUnheld();
    assertThat(new BlockTable(pool, -1).cached(STORY, 6)).isZero();
    check();
  }

  private BlockTable computed(long root, int[] tokens, int length, int computed) {
    BlockTable table = new BlockTable(pool, root);
    if (!table.extend(Math.min(length, 6))) {
      assertThat(table.extend(4)).isTrue();
    }
    table.publish(tokens, computed);
    return table;
  }

  private void check(BlockTable... tables) {
    int[] held = new int[pool.blocks()];
    for (BlockTable table : tables) {
      table.countInto(held);
    }
    pool.checkInvariants(held);
  }
}
