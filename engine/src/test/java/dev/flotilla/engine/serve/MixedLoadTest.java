package dev.flotilla.engine.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.testkit.client.MixedLoad;
import dev.flotilla.testkit.client.TestClient;
import dev.flotilla.testkit.real.SmallModel;
import java.time.Duration;
import java.util.concurrent.ConcurrentSkipListMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A busy time for a server with a real model: some seconds, or as many as the property {@value
 * #SECONDS} says:
 *
 * <pre>mvn test -pl engine -am -Dtest=MixedLoadTest -Dflotilla.load.seconds=600 \
 *     -Dsurefire.failIfNoSpecifiedTests=false</pre>
 */
@Execution(ExecutionMode.CONCURRENT)
class MixedLoadTest {
  private static final String SECONDS = "flotilla.load.seconds";
  private static final int SECONDS_DEFAULT = 4;

  /** Of each client: together they have something of every kind. */
  private static final int LEAST = 8;

  /** From it on, what has to be compiled is. */
  private static final int SECONDS_FOR_MEMORY = 120;

  private static final double GROWTH_MAX = 0.05;
  private static final long GROWTH_BYTES_MAX = 64 << 20;

  @Test
  void everyRequestIsAnsweredOrRefusedAndNothingIsLeft() throws Exception {
    int seconds = Integer.getInteger(SECONDS, SECONDS_DEFAULT);
    ConcurrentSkipListMap<Long, Long> residentAt = new ConcurrentSkipListMap<>();
    try (ServedAlone server = ServedAlone.start(SmallModel.gguf())) {
      MixedLoad load =
          new MixedLoad(
              server.port(),
              ServedAlone.NAME,
              seconds < SECONDS_FOR_MEMORY ? 250 : 500,
              () -> residentAt.put(System.nanoTime(), server.residentBytes()));
      MixedLoad.Outcome outcome = load.run(Duration.ofSeconds(seconds), LEAST, 8, 7);
      assertThat(outcome.wrong()).isEmpty();
      assertThat(outcome.answered()).isPositive();
      assertThat(outcome.left()).isPositive();
      await()
          .untilAsserted(() ->
              assertThat(metrics(server))
                  .contains("num_requests_running{engine=\"0\",model_name=\"small\"} 0.0")
                  .contains("num_requests_waiting{engine=\"0\",model_name=\"small\"} 0.0")
                  .contains("kv_cache_usage_perc{engine=\"0\",model_name=\"small\"} 0.0"));
      long from = residentAt.firstKey();
      long part = (residentAt.lastKey() - from) / 4;
      long early = peak(residentAt, from + part, from + 2 * part);
      long late = peak(residentAt, from + 3 * part, Long.MAX_VALUE);
      System.out.printf(
          "%d s: %s, RSS in the second quarter %,d, in the last %,d bytes%n%s%n",
          seconds, outcome, early, late, counters(server));
      if (seconds >= SECONDS_FOR_MEMORY && early > 0) {
        assertThat(late - early)
            .as("growth of %,d bytes", early)
            .isLessThan(Math.max(GROWTH_BYTES_MAX, (long) (early * GROWTH_MAX)));
      }
      assertThat(server.isAlive()).isTrue();
    }
  }

  private static long peak(ConcurrentSkipListMap<Long, Long> bytes, long from, long to) {
    return bytes.subMap(from, to).values().stream().mapToLong(Long::longValue).max().orElse(0);
  }

  private static String metrics(ServedAlone server) {
    try (TestClient client = TestClient.connect(server.port())) {
      return client.get("/metrics").reply().body();
    }
  }

  private static String counters(ServedAlone server) {
    return metrics(server)
        .lines()
        .filter(line -> line.matches("(vllm|flotilla):[a-z_]+_total\\{.*"))
        .reduce("", (a, b) -> a + b + "\n");
  }
}
