package dev.flotilla.cli.serve;

import dev.flotilla.agent.Agent;
import dev.flotilla.agent.AgentConfig;
import dev.flotilla.agent.AgentRefused;
import dev.flotilla.agent.LocalEngines;
import dev.flotilla.agent.lanes.HubAddress;
import dev.flotilla.agent.policy.Policy;
import dev.flotilla.agent.update.UpdateRules;
import dev.flotilla.cli.Version;
import dev.flotilla.cli.home.HomeLock;
import dev.flotilla.cli.home.HomeOptions;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Style;
import dev.flotilla.cli.output.Text;
import dev.flotilla.hub.Hub;
import dev.flotilla.hub.HubConfig;
import dev.flotilla.hub.HubRefused;
import dev.flotilla.hub.fleet.WorkerView;
import dev.flotilla.hub.gateway.HubListener;
import dev.flotilla.hub.store.StoreFailed;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code flotilla up}: a hub and an agent in this process, over the lanes that two machines would
 * use.
 *
 * <p>The way of a start: the home's lock, the hub (which loads the configuration that the home
 * remembers), the configuration that was asked for where one was, then the agent, which joins with
 * a token that lives in memory for one use. From then on the fleet does what it does on any number
 * of machines, and this class only looks on and tells.
 */
@Command(
    name = "up",
    description =
        "Runs a hub and its first workers on this machine: the one command to begin with.",
    footer = {
      "%nWith nothing configured it serves "
          + UpModel.DEFAULT_NAME
          + ", a small model that runs anywhere.",
      "A model that served is remembered: the next 'flotilla up' serves what this one served, or what",
      "'flotilla apply' said since. It is computed by a llama-server that is configured, on the PATH",
      "or installed already, else by the built-in engine.",
      "%nExamples:",
      "  flotilla up",
      "  flotilla up --model ~/models/Qwen3-4B-Q4_K_M.gguf --context 16384",
      "  flotilla up --model hf:Qwen/Qwen3-4B-GGUF/Qwen3-4B-Q4_K_M.gguf --name qwen3-4b",
      "  flotilla up --listen 0.0.0.0:8484   for other machines too (needs keys)",
    })
public final class UpCommand implements Callable<Integer> {
  private static final Duration LOOK_EVERY = Duration.ofMillis(150);

  /** Once one worker serves, the others are waited for this long before that is said. */
  private static final Duration OTHERS_LIMIT = Duration.ofSeconds(30);

  private final Shell shell;
  @Mixin private final HomeOptions home = new HomeOptions();
  @Mixin private final ListenOptions listen = new ListenOptions();

  @Mixin private final UpModelOptions model = new UpModelOptions();

  @Option(
      names = "--engine-path",
      paramLabel = "FILE",
      description = "The llama-server to start (default: the PATH's).")
  private @Nullable Path enginePath;

  public UpCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() throws InterruptedException {
    Path folder = home.home(shell);
    model.check();
    Policy policy = Engines.policy(Policy::forUp, folder, enginePath, false);
    HubConfig hubConfig = listen.config(folder, shell, true);
    StopSignal signal = StopSignal.listenTwice();
    try (HomeLock lock = HomeLock.take(folder, "hub", "flotilla up")) {
      Logs.start(folder, "up", home.verbose());
      try (Hub hub = Hub.start(hubConfig)) {
        lock.listensAt(hub.address().toString());
        LocalEngines engines = Engines.of(folder, policy, shell);
        long before = hub.revisions().inForce().number();
        Optional<String> changed =
            model.configure(hub.revisions(), () -> Engines.usual(engines.engines()));
        changed.ifPresent(what -> shell.err().println("  " + Text.printable(what)));
        AgentConfig config =
            AgentConfig.of(
                    HubAddress.parse(hub.localAddress().toString()), folder, Version.number())
                .withToken(Optional.of(hub.tokens().oneShot()))
                .withUpdates(new UpdateRules(policy.file(), policy.updateKeys(), false));
        // The hub ends first: what runs goes on for its time, on workers that are still there.
        try (Agent agent = Agent.start(config, engines, new QuietNews());
            HubEnd _ = hub::close) {
          long inForce = hub.revisions().inForce().number();
          serve(hub, agent, signal, inForce == before ? 0 : inForce);
        }
      }
    } catch (HubRefused | AgentRefused e) {
      throw new Failure(String.valueOf(e.getMessage()), e);
    } finally {
      Logs.stop();
      signal.ended();
    }
    return 0;
  }

  /** Closes without an exception of its own. */
  private interface HubEnd extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * @param made the revision that this start put in force, 0 where it changed nothing
   */
  private void serve(Hub hub, Agent agent, StopSignal signal, long made)
      throws InterruptedException {
    StartReport report = new StartReport(shell, System::nanoTime);
    report.say("Hub at " + hub.address() + ", starting workers on node '" + agent.node() + "' …");
    hub.status().notices().forEach(notice -> report.say("  note: " + notice.message()));
    long firstServed = 0;
    while (true) {
      List<WorkerView> views = ofNode(hub, agent.node());
      report.show(hub.fleet().progress(), views);
      if (agent.ended().isDone()) {
        throw new Failure(agent.ended().join().reason());
      }
      boolean patient = false;
      switch (FirstWorkers.of(views)) {
        case FirstWorkers.Hopeless hopeless ->
            throw new Failure("no worker can start: " + hopeless.why() + forgotten(hub, made));
        case FirstWorkers.Waiting waiting when waiting.serving() == 0 ->
            patient = servesOthers(hub, views);
        case FirstWorkers.Waiting waiting -> {
          firstServed = firstServed == 0 ? System.nanoTime() : firstServed;
          patient = System.nanoTime() - firstServed > OTHERS_LIMIT.toNanos();
        }
        case FirstWorkers.Ready ready -> patient = true;
      }
      if (patient) {
        break;
      }
      if (signal.await(LOOK_EVERY)) {
        report.say(StopSignal.stopping(HubListener.LIMITS.stopTime()));
        return;
      }
    }
    greet(hub, report);
    while (!signal.await(LOOK_EVERY)) {
      report.show(hub.fleet().progress(), ofNode(hub, agent.node()));
    }
    report.say(StopSignal.stopping(HubListener.LIMITS.stopTime()));
  }

  /** What never served is not what the next start serves. */
  private static String forgotten(Hub hub, long made) {
    try {
      if (made == 0 || !hub.revisions().withdraw(made)) {
        return "";
      }
      long goesOn = hub.revisions().inForce().number();
      return goesOn == 0
          ? "; nothing of this start is remembered"
          : "; this start is not remembered: the next 'flotilla up' serves revision "
              + goesOn
              + " again";
    } catch (StoreFailed e) {
      return "; and this start is remembered, for " + e.sentence();
    }
  }

  /** A configuration without models (backends alone) starts no worker, and is up at once. */
  private static boolean servesOthers(Hub hub, List<WorkerView> views) {
    return views.isEmpty() && hub.revisions().inForce().spec().models().isEmpty();
  }

  private static List<WorkerView> ofNode(Hub hub, String node) {
    return hub.fleet().workers().stream().filter(worker -> worker.node().equals(node)).toList();
  }

  private void greet(Hub hub, StartReport report) {
    String address = hub.address().toString();
    List<String> names = List.copyOf(hub.fleet().current().names().keySet());
    boolean keyed = hub.status().keysDemanded();
    report.say("");
    report.say(Style.GOOD.apply("Ready.", shell.errColours()) + "  Press Ctrl-C to stop.");
    report.say("  API        " + address + "/v1");
    report.say("  models     " + Text.printable(String.join(", ", names)));
    report.say("  dashboard  " + address + "/");
    if (!names.isEmpty()) {
      report.say("  try        curl -s " + address + "/v1/chat/completions \\");
      if (keyed) {
        report.say("               -H \"Authorization: Bearer $FLOTILLA_KEY\" \\");
      }
      report.say(
          "               -d '{\"model\":\""
              + Text.printable(names.getFirst())
              + "\",\"max_tokens\":64,\"messages\":[{\"role\":\"user\",\"content\":\"Say hi\"}]}'");
    }
  }
}
