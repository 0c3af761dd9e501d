package dev.flotilla.agent.process;

import dev.flotilla.agent.engine.EngineAdapter;
import dev.flotilla.agent.policy.Policy;
import dev.flotilla.wire.connection.LoopbackPorts;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.lanes.ControlMessage.Happened;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import dev.flotilla.wire.text.Counted;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Owns the workers of a node: what is wanted runs, what is not does not, and what dies comes back.
 *
 * <p><b>Life.</b> {@link #start} ends what a dead agent of this home left behind. {@link #desired}
 * says what is wanted, as often as it changes; each worker then lives on a thread of its own
 * ({@link WorkerLife}) that fetches, checks, starts, watches and restarts. A worker whose spec
 * changed, or that is to be restarted, is replaced by a new life that begins when the old one's
 * process is gone. {@link #close} ends all lives and returns when no process is left.
 *
 * <p><b>Invariants.</b> A worker has at most one process. Every launch has a number that is higher
 * than every one before on this home. A process that this agent started is always in the run
 * records and in the guard's list, from its start until it is gone. Starts go one at a time through
 * the memory check, and what one was granted is counted against the next.
 *
 * <p><b>Concurrency.</b> All methods may be called by any thread; {@link #desired}, {@link
 * #restart} and {@link #close} take effect one after another. The table's lock is never held while
 * a process is waited for or a listener is told anything.
 */
public final class Supervisor implements AutoCloseable {
  private final Surroundings surroundings;
  private final OrphanGuard guard;
  private final Map<String, WorkerLife> lives = new LinkedHashMap<>();
  private boolean closed;

  /**
   * A supervisor with the product's own clock, randomness and limits.
   *
   * @param home the agent's home, whose lock the caller holds
   * @param cores processors that the workers share
   * @param memory what a worker finds, asked before each start
   */
  public Supervisor(
      Path home,
      int cores,
      Policy policy,
      List<EngineAdapter> adapters,
      ModelFiles models,
      MemoryRoom.Source memory,
      SupervisorListener listener,
      ProcessStarter starter) {
    this(
        new Surroundings(
            home,
            cores,
            policy,
            byEngine(adapters),
            models,
            memory,
            listener,
            starter,
            InstantSource.system(),
            new SecureRandom(),
            SupervisorLimits.DEFAULTS,
            PortOwners.ofSystem(),
            LoopbackPorts::free));
  }

  Supervisor(Surroundings surroundings) {
    this.surroundings = surroundings;
    this.guard = surroundings.guard();
  }

  static Map<String, EngineAdapter> byEngine(List<EngineAdapter> adapters) {
    Map<String, EngineAdapter> byEngine = new HashMap<>();
    adapters.forEach(adapter -> byEngine.put(adapter.engine(), adapter));
    return Map.copyOf(byEngine);
  }

  /**
   * Ends what an agent of this home left behind that died or replaced itself. Call once, before
   * anything is desired.
   */
  public void start() {
    surroundings.records().leftovers().forEach(this::end);
    surroundings.records().stale(surroundings.programs()).forEach(this::end);
    guard.start();
  }

  private void end(LaunchRecords.Leftover leftover) {
    if (!leftover.process().isAlive()) {
      return; // it went with another that was ended before it
    }
    ProcessEnd.end(leftover.process(), surroundings.limits().stopWithin());
    surroundings
        .listener()
        .happened(
            new Happened(
                surroundings.clock().instant(),
                Severity.WARNING,
                "leftover-stopped",
                leftover.worker(),
                "Process %d (%s) was left by %s and still running; it was ended."
                    .formatted(leftover.process().pid(), leftover.what(), leftover.how())));
  }

  /** Makes exactly these workers run. Returns at once; the listener hears what comes of it. */
  public void desired(List<WorkerSpec> specs) {
    List<WorkerLife> begun = new ArrayList<>();
    synchronized (lives) {
      if (closed) {
        return;
      }
      surroundings.sharers(specs.size());
      Set<String> wanted = new HashSet<>();
      for (WorkerSpec spec : specs) {
        if (wanted.size() == surroundings.limits().workersMax() || !wanted.add(spec.id())) {
          continue;
        }
        WorkerLife life = lives.get(spec.id());
        if (life != null && life.spec().equals(spec) && !life.isStopping()) {
          continue;
        }
        if (life != null) {
          life.stop("Its recipe changed.");
        }
        begun.add(begin(spec, life));
      }
      lives.forEach((id, life) -> {
        if (!wanted.contains(id)) {
          life.stop("It is not wanted any more.");
        }
      });
    }
    begun.forEach(WorkerLife::start);
    if (specs.size() > surroundings.limits().workersMax()) {
      surroundings
          .listener()
          .happened(
              new Happened(
                  surroundings.clock().instant(),
                  Severity.ERROR,
                  "too-many-workers",
                  "node",
                  "%s wanted here and a node runs at most %d; the rest is left out."
                      .formatted(
                          Counted.of(specs.size(), "worker is", "workers are"),
                          surroundings.limits().workersMax())));
    }
  }

  /** Stops the worker and starts it again, without a pause; an unknown name does nothing. */
  public void restart(String worker) {
    WorkerLife next;
    synchronized (lives) {
      WorkerLife life = lives.get(worker);
      if (closed || life == null || life.isStopping()) {
        return;
      }
      life.stop("It is restarted by hand.");
      next = begin(life.spec(), life);
    }
    next.start();
  }

  private WorkerLife begin(WorkerSpec spec, @Nullable WorkerLife before) {
    WorkerLife life = new WorkerLife(spec, before, surroundings, this::ended);
    lives.put(spec.id(), life);
    return life;
  }

  private void ended(WorkerLife life) {
    synchronized (lives) {
      lives.remove(life.spec().id(), life);
    }
  }

  /** Every worker that is wanted or not yet gone. */
  public List<WorkerReport> reports() {
    synchronized (lives) {
      return lives.values().stream().map(WorkerLife::report).toList();
    }
  }

  /** The loopback port of that launch, empty where it is not the one that is ready now. */
  public OptionalInt port(String worker, long generation) {
    WorkerLife life;
    synchronized (lives) {
      life = lives.get(worker);
    }
    if (life == null) {
      return OptionalInt.empty();
    }
    WorkerReport report = life.report();
    return report.generation() == generation && report.phase() == WorkerReport.Phase.READY
        ? OptionalInt.of(report.port())
        : OptionalInt.empty();
  }

  /** Ends all workers side by side; returns when their processes are gone. */
  @Override
  public void close() {
    List<WorkerLife> all;
    synchronized (lives) {
      closed = true;
      all = List.copyOf(lives.values());
      all.forEach(life -> life.stop("The agent ends."));
    }
    all.forEach(WorkerLife::awaitEnd);
    guard.close();
  }
}
