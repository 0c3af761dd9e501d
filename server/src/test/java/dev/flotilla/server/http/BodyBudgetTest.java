package dev.flotilla.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.server.http.BodyBudget.Share;
import org.junit.jupiter.api.Test;

/** Who gets into a budget of bytes, and who is kept out. */
final class BodyBudgetTest {
  private static final long MOST = 16L << 20;

  private final BodyBudget budget = new BodyBudget(MOST);

  @Test
  void smallBodiesGetInWhereLargeOnesHaveTakenAll() {
    try (Share large = budget.share();
        Share another = budget.share();
        Share small = budget.share()) {
      assertThat(large.grow(MOST)).isTrue();
      assertThat(another.grow(BodyBudget.SMALL_BYTES + 1)).as("a large one").isFalse();
      assertThat(small.grow(BodyBudget.SMALL_BYTES)).as("a small one").isTrue();
    }
  }

  @Test
  void smallOnesHaveALimitToo() {
    long admitted = 0;
    while (budget.share().grow(BodyBudget.SMALL_BYTES)) {
      admitted += BodyBudget.SMALL_BYTES;
    }
    assertThat(admitted).isEqualTo(MOST + MOST / 16);
  }

  @Test
  void aBodyThatGrowsOutOfSmallIsCountedAsLargeAsAWhole() {
    try (Share large = budget.share();
        Share growing = budget.share()) {
      assertThat(large.grow(MOST - BodyBudget.SMALL_BYTES)).isTrue();
      assertThat(growing.grow(BodyBudget.SMALL_BYTES)).isTrue();
      assertThat(growing.grow(1)).isFalse();
    }
  }

  @Test
  void whatIsRefusedTakesNothingAndWhatIsClosedGivesBack() {
    Share first = budget.share();
    assertThat(first.grow(MOST + 1)).isFalse();
    try (Share second = budget.share()) {
      assertThat(second.grow(MOST)).as("all is still there").isTrue();
      assertThat(first.grow(BodyBudget.SMALL_BYTES + 1)).isFalse();
    }
    assertThat(first.grow(MOST)).as("all is there again").isTrue();
  }
}
