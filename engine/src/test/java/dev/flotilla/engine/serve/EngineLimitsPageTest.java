package dev.flotilla.engine.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.engine.schedule.ScheduleLimits;
import dev.flotilla.testkit.real.LimitsPage;
import java.util.Set;
import org.junit.jupiter.api.Test;

class EngineLimitsPageTest {
  @Test
  void thePageHasEveryLimitWithItsDefault() {
    assertThat(LimitsPage.missing(ScheduleLimits.DEFAULT, Set.of())).isEmpty();
    assertThat(LimitsPage.missing(ServeLimits.DEFAULT, Set.of("server"))).isEmpty();
  }
}
