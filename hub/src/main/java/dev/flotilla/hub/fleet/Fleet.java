package dev.flotilla.hub.fleet;

import dev.flotilla.hub.lanes.AgentDesk;
import dev.flotilla.hub.lanes.AgentLink;
import dev.flotilla.hub.lanes.WorkLanePool;
import dev.flotilla.hub.lanes.WorkLanes;
import dev.flotilla.hub.routing.Dialer;
import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.hub.routing.FleetSource;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.hub.store.FleetMemory;
import dev.flotilla.hub.store.Journal;
import dev.flotilla.wire.lanes.ControlMessage;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;

/**
 * The one owner of what the fleet is: which nodes there are, which workers are placed on them, and
 * in which state each is.
 *
 * <p><b>Concurrency.</b> One lock guards all of it. Under it nothing waits: messages to agents,
 * events and what is remembered are only enqueued. What the gateway reads is a {@link
 * FleetSnapshot}, made anew after a change and published through a volatile field. Listeners run
 * after the lock is released, on the thread that made the change. A session's calls come from its
 * own thread; a session that was replaced may go on talking, and is not listened to.
 *
 * <p><b>Parts.</b> {@link Sessions} decides who is believed and takes in what agents say, {@link
 * Commands} what people order, {@link Rollout} which version agents are brought to, {@link Watch}
 * what time brings, {@link Proofs} what proofs say; {@link Roster} draws the consequences, {@link
 * Placement} decides where workers go, {@link SnapshotBuilder} makes what the gateway reads.
 *
 * <p><b>Life.</b> A new fleet knows what was remembered: its nodes are awaited with their workers,
 * and nothing is placed anew elsewhere before the grace is over, so a restart of the hub moves and
 * stops nothing. It serves and places from {@link #apply} on. A thread of its own looks after
 * silence, drains and graces from {@link #start} to {@link #close}.
 *
 * <p>The keys of workers' launches are held in memory and reach {@link
 * dev.flotilla.hub.routing.Target} only: no view, event or log has them.
 */
public final class Fleet implements FleetSource, AgentDesk, AutoCloseable {
  private static final Duration TICK = Duration.ofMillis(200);
  private static final System.Logger LOG = System.getLogger(Fleet.class.getName());

  private final String hubId;
  private final WorkLanes lanes;
  private final FleetLimits limits;
  private final InstantSource clock;
  private final LongSupplier nanoTime;
  private final Thread watcher;
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

  private final ReentrantLock lock = new ReentrantLock();
  private final FleetEvents events;
  private final Roster roster;
  private final SnapshotBuilder snapshots;
  private final Sessions sessions;
  private final Watch watch;
  private final RollingRestarts restarts;
  private final Rollout rollout;
  private final Commands commands;
  private final Proofs proofs;
  private volatile FleetSnapshot snapshot = FleetSnapshot.EMPTY;

  /**
   * A fleet that knows what {@code memory} remembers and serves nothing until {@link #apply}.
   *
   * @param hubId random name of this hub's state folder, told to agents
   * @param backendDialers makes a backend's dialer; called once per backend, and again when the
   *     backend changes
   * @param environment looks up the variable that holds a backend's key
   * @param inFlight requests in flight of a {@link dev.flotilla.hub.routing.Target#ledgerKey()};
   *     called under the fleet's lock
   * @param nanoTime a clock that never jumps, such as {@code System::nanoTime}
   */
  public Fleet(
      String hubId,
      WorkLanes lanes,
      FleetMemory memory,
      Journal journal,
      Function<FleetSpec.Backend, Dialer> backendDialers,
      Function<String, Optional<String>> environment,
      ToIntFunction<String> inFlight,
      FleetLimits limits,
      InstantSource clock,
      LongSupplier nanoTime) {
    this.hubId = hubId;
    this.lanes = lanes;
    this.limits = limits;
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.events = new FleetEvents(journal);
    this.roster = new Roster(lanes, memory, events, limits);
    this.snapshots = new SnapshotBuilder(lanes, backendDialers, environment, events);
    this.rollout = new Rollout(roster, limits, RolloutLimits.DEFAULT);
    this.sessions = new Sessions(roster, rollout, limits, clock, nanoTime);
    this.watch = new Watch(roster, lanes, limits, inFlight);
    this.restarts = new RollingRestarts(roster);
    this.commands = new Commands(roster, restarts);
    this.proofs = new Proofs(roster, snapshots, limits);
    this.watcher = Thread.ofVirtual().name("fleet-watcher").unstarted(this::watchUntilClosed);
    long now = nanoTime.getAsLong();
    for (FleetMemory.RememberedNode remembered : memory.nodes()) {
      roster.recall(sessions.newNode(remembered.name(), remembered.agentId()), remembered, now);
    }
  }

  /** Starts the thread that watches silence, drains and graces. */
  public void start() {
    watcher.start();
  }

  @Override
  public void close() {
    watcher.interrupt();
  }

  private void watchUntilClosed() {
    while (!Thread.currentThread().isInterrupted()) {
      try {
        Thread.sleep(TICK);
        tick();
      } catch (InterruptedException _) {
        return;
      } catch (RuntimeException e) {
        LOG.log(System.Logger.Level.ERROR, "The fleet's watch failed and goes on.", e);
      }
    }
  }

  /** One look at silence, drains and graces. */
  void tick() {
    change(() -> {
      long now = nanoTime.getAsLong();
      watch.contacts(now);
      watch.finishDrains(now);
      restarts.advance(now);
      rollout.advance(now);
      proofs.retry(now);
      watch.dropAbsent(now);
      return true;
    });
  }

  /**
   * Puts a revision into force, whole.
   *
   * @param at when the revision was stored: the creation time of names that are new with it
   */
  public void apply(FleetSpec spec, long revision, Instant at) {
    change(() -> {
      roster.apply(spec, revision);
      snapshots.apply(spec, revision, at);
      return true;
    });
  }

  @Override
  public FleetSnapshot current() {
    return snapshot;
  }

  /**
   * {@inheritDoc}
   *
   * <p>Also after changes that only people see: a view, a reason, the progress of a download.
   */
  @Override
  public void onChange(Runnable listener) {
    listeners.add(listener);
  }

  /**
   * Hands each worker on as it changes its state or launch, for its history. The listener is called
   * under the fleet's lock: it only enqueues.
   */
  public void onWorkerChange(Consumer<WorkerView> listener) {
    locked(() -> {
      roster.addHistorian(listener);
      return true;
    });
  }

  /** Every worker, by name. */
  public List<WorkerView> workers() {
    return locked(() ->
        roster.workers().stream()
            .map(FleetWorker::view)
            .sorted(Comparator.comparing(WorkerView::name))
            .toList());
  }

  public Optional<WorkerView> worker(String name) {
    return locked(() -> roster.worker(name).map(FleetWorker::view));
  }

  /** Every node, by name. */
  public List<NodeView> nodes() {
    return locked(() -> roster.nodes.values().stream().map(this::view).toList());
  }

  public Optional<NodeView> node(String name) {
    return locked(() -> Optional.ofNullable(roster.nodes.get(name)).map(this::view));
  }

  /**
   * The nodes of the machine that a node is on, itself among them: those whose agents tell the same
   * host name.
   */
  public Set<String> onMachineOf(String node) {
    return locked(() -> {
      FleetNode one = roster.nodes.get(node);
      return one == null
          ? Set.of(node)
          : roster.nodes.values().stream()
              .filter(one::sharesMachineWith)
              .map(each -> each.name)
              .collect(Collectors.toSet());
    });
  }

  /** What went through the work lanes, as each node's agent counted since its start, by node. */
  public Map<String, List<ControlMessage.LaneCount>> laneCounts() {
    return locked(() -> {
      Map<String, List<ControlMessage.LaneCount>> counts = new TreeMap<>();
      roster.nodes.forEach((name, node) -> counts.put(name, node.laneCounts));
      return counts;
    });
  }

  private NodeView view(FleetNode node) {
    WorkLanePool pool = lanes.pool(node.name);
    return new NodeView(
        node.name,
        node.isConnected(),
        node.generation,
        node.agentVersion,
        node.facts,
        node.heardAt,
        pool.idle(),
        pool.open(),
        node.workers.size(),
        !node.drainedBy.isEmpty(),
        node.update == null ? "" : node.update.words());
  }

  /** Every configured backend, as it was heard last. */
  public List<BackendView> backends() {
    return locked(snapshots::backendViews);
  }

  /** Whether the backend of that name did not answer when it was last asked; waits for nobody. */
  public boolean isUnreachable(String backend) {
    return snapshots.isUnreachable(backend);
  }

  /** Where the backends are that have their keys, in use or not. */
  public List<Target> backendTargets() {
    return locked(snapshots::backendTargets);
  }

  /**
   * A backend answered, or did not.
   *
   * @param trouble why it can't be used, empty where it can
   */
  public void backendHeard(Target backend, String trouble) {
    changed(() -> roster.changed |= snapshots.backendHeard(backend, trouble, clock.instant()));
  }

  /** Downloads and installations under way, oldest first. */
  public List<ProgressView> progress() {
    return locked(roster.progress::all);
  }

  /**
   * Lets a worker, or every worker of a node, finish what runs and take nothing new, until {@link
   * #resume}. The engines stay loaded.
   *
   * @param by who asks, in words
   */
  public CommandResult drain(String name, String by) {
    return change(() -> commands.drain(name, by));
  }

  /** Takes back a drain by hand. */
  public CommandResult resume(String name, String by) {
    return change(() -> commands.resume(name, by));
  }

  /**
   * Drains a worker and starts its engine anew; of a node one worker after the other, each when the
   * one before serves again or has failed to.
   */
  public CommandResult restart(String name, String by) {
    return change(() -> commands.restart(name, by, nanoTime.getAsLong()));
  }

  /**
   * Forgets a node that is gone for good, with what was placed on it. Refused while it is
   * connected. Its right to dial is taken by whoever calls this, afterwards.
   */
  public CommandResult forget(String name, String by) {
    return change(() -> commands.forget(name, by));
  }

  /**
   * Proves a worker by hand: one that serves finishes what runs first.
   *
   * @param asReference whether its answers become the model's reference
   */
  public CommandResult prove(String name, boolean asReference, String by) {
    return change(() -> proofs.prove(name, asReference, by, nanoTime.getAsLong()));
  }

  /** What agents are brought to from now on, one node after the other; empty for nothing. */
  public void offer(Optional<ControlMessage.UpdateOffered> offer) {
    changed(() -> rollout.offer(offer));
  }

  /** Launches that wait to be proved. A worker serves only after {@link #proved}. */
  public List<ProofCandidate> proofCandidates() {
    return locked(proofs::candidates);
  }

  /** Somebody proves the launch from now on; false where it does not wait for that any more. */
  public boolean proofBegins(ProofCandidate candidate, String step) {
    return change(() -> proofs.begins(candidate, step));
  }

  /** What a proof looks at now, for people; false where the launch is over. */
  public boolean proofGoesOn(ProofCandidate candidate, String step) {
    return change(() -> proofs.goesOn(candidate, step));
  }

  /** How a proof ended; not heard where the launch is over by now. */
  public void proved(ProofCandidate candidate, ProofVerdict verdict) {
    changed(() -> proofs.proved(candidate, verdict, nanoTime.getAsLong()));
  }

  /**
   * More is known of a launch that serves.
   *
   * @param slots requests that it is given at once, 0 for as many as it has slots
   */
  public void proofNoted(String worker, long generation, int slots, String note) {
    changed(() -> proofs.noted(worker, generation, slots, note));
  }

  /**
   * A worker that serves takes nothing new and is proved again.
   *
   * @param why the rest of a sentence that begins with its name
   * @param slow whether it is only slow: then the last worker of a model goes on serving
   * @return false where it goes on
   */
  public boolean proveAgain(String worker, long generation, String why, boolean slow) {
    return change(() -> proofs.again(worker, generation, why, slow, nanoTime.getAsLong()));
  }

  /**
   * For tests.
   *
   * @throws AssertionError where an invariant does not hold
   */
  public void checkInvariants() {
    locked(() -> {
      roster.checkInvariants();
      return true;
    });
  }

  @Override
  public Admission hello(AgentLink link, String enrolledAgentId, ControlMessage.Hello hello) {
    return change(() -> sessions.hello(link, enrolledAgentId, hello))
        .<Admission>map(Admission.Refused::new)
        .orElseGet(() -> new Admission.Admitted(welcome(), () -> welcomed(link)));
  }

  private ControlMessage.Welcome welcome() {
    return new ControlMessage.Welcome(
        hubId,
        (int) limits.heartbeat().toMillis(),
        lanes.limits().idleLanes(),
        lanes.limits().lanesMax());
  }

  private void welcomed(AgentLink link) {
    changed(() -> sessions.welcomed(link));
  }

  @Override
  public void said(AgentLink link, ControlMessage.FromAgent message) {
    changed(() -> sessions.said(link, message));
  }

  @Override
  public void ended(AgentLink link, String why) {
    changed(() -> sessions.ended(link, why));
  }

  private void changed(Runnable step) {
    change(() -> {
      step.run();
      return true;
    });
  }

  private <T> T locked(Supplier<T> read) {
    lock.lock();
    try {
      return read.get();
    } finally {
      lock.unlock();
    }
  }

  /** Changes something, draws the consequences, publishes, and tells the listeners. */
  private <T> T change(Supplier<T> step) {
    T result;
    boolean changed;
    lock.lock();
    try {
      result = step.get();
      roster.settle(nanoTime.getAsLong());
      changed = roster.changed;
      if (changed) {
        roster.changed = false;
        FleetSnapshot next = snapshots.build(roster.nodes.values(), roster.progress);
        if (!next.equals(snapshot)) {
          snapshot = next;
        }
      }
    } finally {
      lock.unlock();
    }
    if (changed) {
      listeners.forEach(Fleet::run);
    }
    return result;
  }

  /** A listener's fault is not that of the session on whose thread it runs. */
  private static void run(Runnable listener) {
    try {
      listener.run();
    } catch (RuntimeException e) {
      LOG.log(System.Logger.Level.ERROR, "A listener of the fleet failed.", e);
    }
  }
}
