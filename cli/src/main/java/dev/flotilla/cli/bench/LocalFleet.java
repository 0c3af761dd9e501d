package dev.flotilla.cli.bench;

import dev.flotilla.agent.Agent;
import dev.flotilla.agent.AgentConfig;
import dev.flotilla.agent.AgentRefused;
import dev.flotilla.agent.LocalEngines;
import dev.flotilla.agent.lanes.HubAddress;
import dev.flotilla.agent.process.ProcessStarter;
import dev.flotilla.bench.arms.ArmServer;
import dev.flotilla.bench.arms.ServerCounters;
import dev.flotilla.bench.launch.EngineNotStarted;
import dev.flotilla.bench.launch.RunningServer;
import dev.flotilla.cli.Version;
import dev.flotilla.cli.serve.QuietNews;
import dev.flotilla.hub.Hub;
import dev.flotilla.hub.HubConfig;
import dev.flotilla.hub.HubRefused;
import dev.flotilla.hub.fleet.NodeView;
import dev.flotilla.hub.fleet.WorkerView;
import dev.flotilla.hub.fleet.WorkerView.State;
import dev.flotilla.hub.spec.FleetFile;
import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.hub.spec.FleetSpec.Limits;
import dev.flotilla.hub.spec.FleetSpec.Model;
import dev.flotilla.hub.spec.FleetSpec.Promise;
import dev.flotilla.hub.spec.FleetSpec.Recipe;
import dev.flotilla.hub.spec.FleetSpec.When;
import dev.flotilla.hub.spec.Revisions;
import dev.flotilla.hub.store.StoreFailed;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * A fleet within this process, in a folder that goes with it: a hub, and an agent with one worker
 * for each machine that it stands for. It is assembled as {@code flotilla hub} and {@code flotilla
 * agent} are, and speaks over the same lanes.
 *
 * <p>{@link #close} ends the agents, which end their workers, then the hub; again is nothing.
 */
final class LocalFleet implements AutoCloseable {
  private static final Duration LOOK_EVERY = Duration.ofMillis(100);
  private static final String BY = "flotilla bench arms";

  private final Path folder;
  private final Hub hub;
  private final List<Agent> agents = new ArrayList<>();

  private LocalFleet(Path folder, Hub hub) {
    this.folder = folder;
    this.hub = hub;
  }

  /**
   * What it serves.
   *
   * @param model its public name
   * @param file the GGUF file
   * @param threads processor threads of each worker
   */
  record Served(String model, Path file, int contextTokens, int slots, int threads) {}

  /**
   * Starts it, and returns when each machine's worker serves.
   *
   * @param machines how each machine starts its engines
   * @param within how long that may take
   * @throws EngineNotStarted where it does not; then nothing is left running
   */
  static LocalFleet start(
      LocalEngineStarts starts, Served served, List<ProcessStarter> machines, Duration within)
      throws EngineNotStarted, InterruptedException {
    Path folder = null;
    LocalFleet fleet = null;
    boolean kept = false;
    try {
      folder = starts.machine().folder("fleet");
      fleet = new LocalFleet(folder, Hub.start(HubConfig.local(folder.resolve("hub"))));
      long deadline = System.nanoTime() + within.toNanos();
      fleet.join(starts, machines, deadline, within);
      fleet.serve(served, machines.size(), deadline, within);
      kept = true;
      return fleet;
    } catch (IOException e) {
      throw new EngineNotStarted("No folder for a fleet can be made: " + e.getMessage() + ".", e);
    } catch (HubRefused | AgentRefused | StoreFailed e) {
      throw new EngineNotStarted("The fleet did not start: " + e.getMessage(), e);
    } finally {
      if (!kept && fleet != null) {
        fleet.close();
      } else if (!kept && folder != null) {
        LocalMachine.remove(folder);
      }
    }
  }

  /** One after the other: the hub has one token at a time that is good for one machine. */
  private void join(
      LocalEngineStarts starts, List<ProcessStarter> machines, long deadline, Duration within)
      throws AgentRefused, StoreFailed, EngineNotStarted, InterruptedException {
    for (int machine = 0; machine < machines.size(); machine++) {
      AgentConfig config =
          AgentConfig.of(
                  HubAddress.parse(hub.localAddress().toString()),
                  folder.resolve("machine-" + (machine + 1)),
                  Version.number())
              .withToken(Optional.of(hub.tokens().oneShot()))
              .withNode(Optional.of("machine-" + (machine + 1)));
      LocalEngines engines =
          new LocalEngines(
              starts.home(), starts.policy(), starts.searchPath(), machines.get(machine));
      agents.add(Agent.start(config, engines, new QuietNews()));
      int joined = agents.size();
      await(() -> connected() == joined, deadline, within);
    }
  }

  /** What is wanted is placed once all are there: what came first would get both workers. */
  private void serve(Served served, int machines, long deadline, Duration within)
      throws EngineNotStarted, StoreFailed, InterruptedException {
    Recipe recipe =
        new Recipe(
            "llama-server",
            When.ANYWHERE,
            served.file().toString(),
            served.slots(),
            false,
            Map.of("threads", String.valueOf(served.threads())));
    Model model =
        new Model(
            served.model(),
            new Promise(served.contextTokens(), Reasoning.REASONING_CONTENT, false),
            machines,
            List.of(recipe));
    String yaml =
        FleetFile.write(new FleetSpec(List.of(model), List.of(), List.of(), Limits.DEFAULT));
    if (hub.revisions().apply(yaml, BY, BY, false) instanceof Revisions.Outcome.Rejected rejected) {
      throw new EngineNotStarted(
          "The fleet can't serve that: " + rejected.bad().problems().getFirst().message());
    }
    await(() -> serving() == machines, deadline, within);
  }

  private long connected() {
    return hub.fleet().nodes().stream().filter(NodeView::connected).count();
  }

  private long serving() {
    return hub.fleet().workers().stream()
        .filter(worker -> worker.state() == State.SERVING)
        .map(WorkerView::node)
        .distinct()
        .count();
  }

  private void await(BooleanSupplier reached, long deadline, Duration within)
      throws EngineNotStarted, InterruptedException {
    while (!reached.getAsBoolean()) {
      for (WorkerView worker : hub.fleet().workers()) {
        if (worker.state() == State.REFUSED) {
          throw new EngineNotStarted(
              "The fleet's worker on " + worker.node() + ": " + worker.stateReason());
        }
      }
      if (System.nanoTime() - deadline > 0) {
        throw new EngineNotStarted(
            "The fleet's workers did not serve within %d s (%s); a longer wait is --ready-timeout SECONDS."
                .formatted(within.toSeconds(), seen()));
      }
      Thread.sleep(LOOK_EVERY);
    }
  }

  /** How far its machines are, for a message. */
  private String seen() {
    List<String> seen = new ArrayList<>();
    for (NodeView node : hub.fleet().nodes()) {
      seen.add(node.name() + (node.connected() ? " is connected" : " is not connected"));
    }
    for (WorkerView worker : hub.fleet().workers()) {
      String reason = worker.stateReason().isEmpty() ? "" : ": " + worker.stateReason();
      seen.add(worker.name() + " is " + worker.state().name().toLowerCase(Locale.ROOT) + reason);
    }
    return seen.isEmpty() ? "no machine has joined" : String.join("; ", seen);
  }

  /** The hub, and what its workers count. */
  ArmServer server(String model, EngineCounters counters) {
    String api = hub.address() + "/v1";
    return new ArmServer(
        new RunningServer("hub", api, model, Optional.empty()), () -> upstream(counters));
  }

  private Map<String, ServerCounters> upstream(EngineCounters counters) {
    Map<String, ServerCounters> counted = new LinkedHashMap<>();
    for (Agent agent : agents) {
      for (WorkerReport worker : agent.workers()) {
        try {
          counters
              .read(URI.create("http://127.0.0.1:" + worker.port()), Optional.of(worker.apiKey()))
              .ifPresent(each -> counted.put(worker.id(), each));
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    }
    return counted;
  }

  /** How each worker was started. */
  List<List<String>> commandLines() {
    return agents.stream()
        .flatMap(agent -> agent.workers().stream())
        .map(WorkerReport::commandLine)
        .toList();
  }

  @Override
  public void close() {
    agents.forEach(Agent::close);
    agents.clear();
    hub.close();
    LocalMachine.remove(folder);
  }
}
