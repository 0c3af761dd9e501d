package dev.flotilla.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.hub.fleet.FleetLimits;
import dev.flotilla.hub.fleet.RolloutLimits;
import dev.flotilla.hub.gateway.GatewayLimits;
import dev.flotilla.hub.gateway.HubListener;
import dev.flotilla.hub.gateway.SocketDialer;
import dev.flotilla.hub.lanes.LaneLimits;
import dev.flotilla.hub.proof.ProofLimits;
import dev.flotilla.hub.releases.ReleaseLimits;
import dev.flotilla.hub.reports.ReportLimits;
import dev.flotilla.hub.routing.QueueLimits;
import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.hub.store.StoreLimits;
import dev.flotilla.testkit.real.LimitsPage;
import dev.flotilla.wire.connection.DeadlineLimits;
import dev.flotilla.wire.http.Http1Limits;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LimitsPageTest {

  static Stream<Record> limits() {
    return Stream.of(
        FleetSpec.Limits.DEFAULT,
        HubListener.LIMITS,
        GatewayLimits.DEFAULTS,
        QueueLimits.of(FleetSpec.Limits.DEFAULT),
        SocketDialer.Limits.DEFAULTS,
        FleetLimits.DEFAULT,
        ProofLimits.DEFAULTS,
        LaneLimits.DEFAULT,
        StoreLimits.DEFAULT.kept(),
        StoreLimits.DEFAULT.waiting(),
        StoreLimits.DEFAULT.pauses(),
        ReportLimits.DEFAULT,
        ReleaseLimits.DEFAULT,
        RolloutLimits.DEFAULT,
        MemoryReturn.Limits.DEFAULTS,
        DeadlineLimits.DEFAULTS,
        Http1Limits.DEFAULTS);
  }

  @ParameterizedTest
  @MethodSource("limits")
  void thePageHasEveryLimitWithItsDefault(Record limits) {
    assertThat(LimitsPage.missing(limits, Set.of("bodyBytesTotalMax"))).isEmpty();
  }
}
