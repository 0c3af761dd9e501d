package dev.flotilla.bench.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A server's memory over a run. */
final class MemorySamplerTest {
  @Test
  void thePeakOutlivesWhatWasGivenBack() {
    AtomicInteger looks = new AtomicInteger();
    MemorySampler sampler =
        MemorySampler.start(() -> looks.incrementAndGet() == 2 ? 700 : 100, Duration.ofMillis(1));
    await().until(() -> looks.get() >= 4);
    MemorySampler.Memory memory = sampler.stop();
    assertThat(memory.peakBytes()).isEqualTo(700);
    assertThat(memory.meanBytes()).isGreaterThan(100).isLessThan(400);
    assertThat(memory.known()).isTrue();
  }

  @Test
  void ofAServerThatIsElsewhereNothingIsKnown() {
    assertThat(MemorySampler.start(() -> 0, Duration.ofMillis(1)).stop())
        .isEqualTo(MemorySampler.Memory.UNKNOWN);
  }
}
