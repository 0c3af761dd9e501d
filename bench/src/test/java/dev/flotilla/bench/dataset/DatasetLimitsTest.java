package dev.flotilla.bench.dataset;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.testkit.real.LimitsPage;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** {@code docs/limits.md} has every limit of a dataset with its default. */
final class DatasetLimitsTest {
  @Test
  void thePageHasEveryLimitWithItsDefault() {
    assertThat(LimitsPage.missing(DatasetLimits.DEFAULTS, Set.of())).isEmpty();
  }
}
