package dev.flotilla.agent.lanes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.wire.fleet.WorkerReport.Phase;
import dev.flotilla.wire.lanes.ControlMessage.FromAgent;
import dev.flotilla.wire.lanes.ControlMessage.Happened;
import dev.flotilla.wire.lanes.ControlMessage.Progress;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import dev.flotilla.wire.lanes.ControlMessage.WorkerChanged;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class OutboxTest {
  private final Outbox outbox = new Outbox(AgentLaneLimits.DEFAULT, () -> Instant.EPOCH);

  @Test
  void ofAWorkerAndAStepOnlyTheNewestWordWaits() throws Exception {
    outbox.worker(FakeWorkers.report("n/m-1", 1, Phase.STARTING));
    outbox.progress(new Progress("model", "downloading", 1, 10, false));
    outbox.worker(FakeWorkers.report("n/m-1", 1, Phase.READY));
    outbox.progress(new Progress("model", "downloading", 9, 10, false));

    assertThat(outbox.take(0))
        .containsExactly(
            new WorkerChanged(FakeWorkers.report("n/m-1", 1, Phase.READY)),
            new Progress("model", "downloading", 9, 10, false));
    assertThat(outbox.take(0)).isEmpty();
  }

  @Test
  void aThousandEventsWaitAndTheHubIsToldHowManyOlderOnesWereDropped() throws Exception {
    for (int i = 0; i < 1003; i++) {
      outbox.event(event(i));
    }

    List<FromAgent> said = outbox.take(0);
    assertThat(said).hasSize(1001);
    assertThat(((Happened) said.getFirst()).message())
        .isEqualTo("3 older events were dropped while the hub was away.");
    assertThat(said.get(1)).isEqualTo(event(3));
    assertThat(outbox.dropped()).isEqualTo(3);
  }

  @Test
  void whatCouldNotBeWrittenComesFirstTheNextTime() throws Exception {
    outbox.event(event(1));
    outbox.event(event(2));
    List<FromAgent> unsent = outbox.take(0);
    outbox.event(event(3));
    outbox.giveBack(unsent);

    assertThat(outbox.take(0)).containsExactly(event(1), event(2), event(3));
  }

  @Test
  void stepsThatWaitAreBounded() throws Exception {
    for (int i = 0; i < 100; i++) {
      outbox.progress(new Progress("model-" + i, "downloading", 0, 1, false));
    }

    assertThat(outbox.take(0)).hasSize(AgentLaneLimits.DEFAULT.subjectsKept());
  }

  private static Happened event(int number) {
    return new Happened(Instant.EPOCH, Severity.INFO, "kind", "subject", "event " + number);
  }
}
