package dev.flotilla.agent;

import dev.flotilla.agent.lanes.AgentEnd;
import dev.flotilla.agent.lanes.AgentIdentity;
import dev.flotilla.agent.lanes.ControlLane;
import dev.flotilla.agent.lanes.HubDialer;
import dev.flotilla.agent.lanes.Outbox;
import dev.flotilla.agent.lanes.ReleaseSource;
import dev.flotilla.agent.lanes.WorkLanes;
import dev.flotilla.agent.models.ModelStore;
import dev.flotilla.agent.node.NodeProbe;
import dev.flotilla.agent.process.SupervisorListener;
import dev.flotilla.agent.update.UpdateLimits;
import dev.flotilla.agent.update.Updater;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.lanes.ControlMessage.Happened;
import dev.flotilla.wire.lanes.ControlMessage.Progress;
import dev.flotilla.wire.text.Names;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A whole agent: the machine's facts, its model store, its engines, and its lanes to the hub.
 *
 * <p>Life: {@link #start} takes the home's lock, counts the start, measures the machine and begins
 * to dial; it does not wait for the hub, which may come later or come back at any time. Engines run
 * on while there is no hub. {@link #ended} completes where no further try can help; the caller then
 * tells the person and closes. {@link #close} says goodbye, so that the hub sends nothing more,
 * then stops the engines and lets go of the home; it returns within seconds and leaves no process.
 *
 * <p>Whatever supervision reports goes two ways, to the outbox for the hub and to the listener of
 * this process; neither can hold the other up.
 */
public final class Agent implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(Agent.class.getName());

  /** How often the drivers of accelerators are asked anew. */
  private static final Duration PROBE_EVERY = Duration.ofMinutes(1);

  private final String node;
  private final HomeLock lock;
  private final NodeProbe probe;
  private final Supervision supervision;
  private final WorkLanes workLanes;
  private final ControlLane controlLane;
  private final Updater updater;
  private final CompletableFuture<AgentEnd> ended;
  private final Thread prober;

  private Agent(
      String node,
      HomeLock lock,
      NodeProbe probe,
      Supervision supervision,
      WorkLanes workLanes,
      ControlLane controlLane,
      Updater updater) {
    this.node = node;
    this.lock = lock;
    this.probe = probe;
    this.supervision = supervision;
    this.workLanes = workLanes;
    this.controlLane = controlLane;
    this.updater = updater;
    this.ended =
        CompletableFuture.anyOf(updater.replaced(), controlLane.ended())
            .thenApply(AgentEnd.class::cast);
    this.prober = Thread.ofVirtual().name("node-probe").unstarted(this::probeNowAndThen);
  }

  /**
   * Starts an agent.
   *
   * @throws AgentRefused where it can't run here; nothing is left running or locked then
   */
  public static Agent start(AgentConfig config, Supervision.Source engines, AgentListener listener)
      throws AgentRefused {
    HomeLock lock = null;
    try {
      lock = HomeLock.take(config.home(), InstantSource.system().instant());
      return assemble(config, engines, listener, lock);
    } catch (IOException e) {
      close(lock);
      throw new AgentRefused(
          "The agent can't start on " + config.home() + ": " + String.valueOf(e.getMessage()));
    } catch (AgentRefused | RuntimeException e) {
      close(lock);
      throw e;
    }
  }

  private static Agent assemble(
      AgentConfig config, Supervision.Source engines, AgentListener listener, HomeLock lock)
      throws AgentRefused, IOException {
    NodeProbe probe = new NodeProbe(engines::engines);
    NodeFacts facts = probe.probe();
    HubDialer dialer = new HubDialer(config.hub(), config.authorities(), config.lanes());
    AgentIdentity identity = AgentIdentity.open(config.home());
    String node = name(config.node().isPresent() ? config.node() : identity.node(), facts.host());
    Outbox outbox = new Outbox(config.lanes(), InstantSource.system());
    ModelStore models =
        new ModelStore(config.home().resolve("models"), config.environment(), config.downloads());
    Supervision supervision =
        engines.start(
            new Supervision.Surroundings(
                config.home(), node, models, probe::refresh, new Both(outbox, listener)));
    WorkLanes workLanes =
        new WorkLanes(dialer, supervision, config.lanes(), RandomGenerator.getDefault());
    Updater updater =
        Updater.of(
            config.home(),
            config.version(),
            config.updates(),
            new ReleaseSource(dialer, node, identity)::open,
            UpdateLimits.DEFAULTS,
            new Both(outbox, listener),
            outbox::update);
    ControlLane controlLane =
        new ControlLane(
            new ControlLane.Self(node, config.token(), config.version(), identity),
            dialer,
            probe::refresh,
            supervision,
            workLanes,
            updater,
            outbox,
            config.lanes(),
            listener,
            RandomGenerator.getDefault());
    Agent agent = new Agent(node, lock, probe, supervision, workLanes, controlLane, updater);
    controlLane.start();
    agent.prober.start();
    LOG.log(System.Logger.Level.INFO, "Agent {0}, {1}, hub {2}", node, identity, config.hub());
    return agent;
  }

  /** The node's name in the fleet. */
  public String node() {
    return node;
  }

  /** Completes when the agent can't or shall not go on; close it then. */
  public CompletableFuture<AgentEnd> ended() {
    return ended.copy();
  }

  /** Whether the hub has this agent at the moment. */
  public boolean isConnected() {
    return controlLane.isUp();
  }

  public NodeFacts facts() {
    return probe.refresh();
  }

  public List<WorkerReport> workers() {
    return supervision.reports();
  }

  /** Ends the agent and everything that it started; again is nothing. */
  @Override
  public void close() {
    controlLane.close(
        updater.replaced().isDone()
            ? updater.replaced().join().reason()
            : "The agent on " + node + " was stopped.");
    updater.close();
    prober.interrupt();
    workLanes.close();
    supervision.close();
    close(lock);
  }

  /**
   * The name that was asked for or is known, or the host's with every character that a name can't
   * have turned into a dash.
   *
   * @throws AgentRefused where the one that was asked for is none
   */
  static String name(Optional<String> wanted, String host) throws AgentRefused {
    if (wanted.isPresent()) {
      Optional<String> problem = Names.nodeProblem(wanted.get());
      if (problem.isPresent()) {
        throw new AgentRefused("The agent can't have this name: " + problem.get() + ".");
      }
      return wanted.get();
    }
    String first = host.contains(".") ? host.substring(0, host.indexOf('.')) : host;
    String name = first.replaceAll("[^A-Za-z0-9_-]", "-").replaceFirst("^[^A-Za-z0-9]+", "");
    name = name.substring(0, Math.min(name.length(), 63));
    return name.isEmpty() ? "node" : name;
  }

  private void probeNowAndThen() {
    try {
      while (true) {
        Thread.sleep(PROBE_EVERY);
        probe.probe();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void close(@Nullable HomeLock lock) {
    if (lock == null) {
      return;
    }
    try {
      lock.close();
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "The home''s lock was not released: {0}", e.toString());
    }
  }

  /** To the hub and to this process. */
  private record Both(Outbox outbox, AgentListener listener) implements SupervisorListener {
    @Override
    public void workerChanged(WorkerReport report) {
      outbox.worker(report);
      listener.workerChanged(report);
    }

    @Override
    public void happened(Happened event) {
      outbox.event(event);
      listener.happened(event);
    }

    @Override
    public void progress(
        String subject, String step, long doneBytes, long totalBytes, boolean finished) {
      outbox.progress(new Progress(subject, step, doneBytes, totalBytes, finished));
      listener.progress(subject, step, doneBytes, totalBytes, finished);
    }
  }
}
