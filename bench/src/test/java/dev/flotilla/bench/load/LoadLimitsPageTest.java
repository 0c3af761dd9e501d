package dev.flotilla.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.testkit.real.LimitsPage;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LoadLimitsPageTest {

  @Test
  void thePageHasEveryLimitWithItsDefault() {
    assertThat(LimitsPage.missing(LoadLimits.DEFAULTS, Set.of())).isEmpty();
  }
}
