package dev.flotilla.shape.probe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.testkit.real.LimitsPage;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ProbeLimitsPageTest {

  @Test
  void thePageHasEveryLimitWithItsDefault() {
    assertThat(LimitsPage.missing(ProbeLimits.DEFAULTS, Set.of())).isEmpty();
  }
}
