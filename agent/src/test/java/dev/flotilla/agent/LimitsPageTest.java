package dev.flotilla.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.agent.lanes.AgentLaneLimits;
import dev.flotilla.agent.models.DownloadLimits;
import dev.flotilla.agent.process.SupervisorLimits;
import dev.flotilla.agent.update.UpdateLimits;
import dev.flotilla.testkit.real.LimitsPage;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LimitsPageTest {

  static Stream<Record> limits() {
    return Stream.of(
        AgentLaneLimits.DEFAULT,
        SupervisorLimits.DEFAULTS,
        DownloadLimits.defaults(),
        UpdateLimits.DEFAULTS);
  }

  @ParameterizedTest
  @MethodSource("limits")
  void thePageHasEveryLimitWithItsDefault(Record limits) {
    assertThat(LimitsPage.missing(limits, Set.of())).isEmpty();
  }
}
