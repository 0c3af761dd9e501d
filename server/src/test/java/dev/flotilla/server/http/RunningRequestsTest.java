package dev.flotilla.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RunningRequestsTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  private final RunningRequests requests = new RunningRequests();

  @Test
  void onceTheServerStopsNoneIsLetInAndWhatRunsIsWaitedFor() throws Exception {
    assertThat(requests.enter()).isTrue();
    assertThat(requests.enter()).isTrue();
    requests.stop();
    assertThat(requests.enter()).isFalse();

    CompletableFuture<Boolean> none = CompletableFuture.supplyAsync(() -> requests.awaitNone(LONG));
    requests.leave();
    assertThat(requests.awaitNone(Duration.ofMillis(1))).as("one runs").isFalse();
    assertThat(none).isNotDone();
    requests.leave();
    assertThat(none.get(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void whereNothingRunsNothingIsWaitedFor() {
    requests.stop();
    assertThat(requests.awaitNone(LONG)).isTrue();
  }
}
