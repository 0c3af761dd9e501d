package dev.flotilla.agent.process;

import dev.flotilla.agent.engine.EngineAdapter;
import dev.flotilla.agent.engine.EngineAdapter.MemoryNeed;
import dev.flotilla.agent.engine.EngineAdapter.ModelRefused;
import dev.flotilla.agent.engine.EngineUnavailable;
import dev.flotilla.agent.process.ModelFiles.ModelUnavailable;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.fleet.WorkerReport.Phase;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.lanes.ControlMessage.Happened;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One worker from the moment it is wanted until it is not: prepare, launch, watch, pause, again.
 *
 * <p>It is one straight line on one virtual thread, which alone owns the process and writes the
 * report. {@link #stop} marks the life and interrupts the thread; whatever it waits for then ends,
 * the process is ended on the way out, and the last report is STOPPED. A life is used once; what
 * replaces it waits for its end, so that a worker never has two processes.
 */
final class WorkerLife {
  private static final System.Logger LOG = System.getLogger(WorkerLife.class.getName());

  private final WorkerSpec spec;
  private volatile @Nullable WorkerLife before;
  private final Surroundings surroundings;
  private final Consumer<WorkerLife> ended;
  private final WorkerLog log;
  private final Thread thread;
  private final CountDownLatch end = new CountDownLatch(1);
  private final AtomicBoolean stopping = new AtomicBoolean();
  private volatile String stopReason = "";
  private volatile @Nullable WorkerReport report;

  private int failures;
  private String lastRefusal = "";

  WorkerLife(
      WorkerSpec spec,
      @Nullable WorkerLife before,
      Surroundings surroundings,
      Consumer<WorkerLife> ended) {
    this.spec = spec;
    this.before = before;
    this.surroundings = surroundings;
    this.ended = ended;
    this.log =
        new WorkerLog(
            surroundings.home().resolve("logs"), spec.id(), surroundings.limits().logBytesMax());
    this.thread = Thread.ofVirtual().name("worker-" + spec.id()).unstarted(this::run);
  }

  /** How one try to run the worker came out. */
  sealed interface Outcome {
    /**
     * It can't be started as asked.
     *
     * @param forMemory whether memory is all that is missing
     */
    record Refused(String reason, boolean forMemory) implements Outcome {
      Refused(String reason) {
        this(reason, false);
      }
    }

    /** Its process ended, or never became ready. */
    record Died(String kind, String reason, boolean ranWell) implements Outcome {}
  }

  WorkerSpec spec() {
    return spec;
  }

  void start() {
    thread.start();
  }

  boolean isStopping() {
    return stopping.get();
  }

  /** Asks the life to end; returns at once. */
  void stop(String reason) {
    if (stopping.compareAndSet(false, true)) {
      stopReason = reason;
      thread.interrupt();
    }
  }

  /** Waits until the process is gone; the waiting is bounded by the limits of stopping. */
  void awaitEnd() {
    boolean interrupted = false;
    while (true) {
      try {
        end.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** The newest report; before this life has begun, that of the life that it replaces. */
  WorkerReport report() {
    WorkerReport own = report;
    if (own != null) {
      return own;
    }
    WorkerLife earlier = before;
    return earlier == null ? blank(0) : earlier.report();
  }

  private WorkerReport blank(long generation) {
    return new WorkerReport(
        spec.id(),
        spec.model(),
        generation,
        Phase.PREPARING,
        "",
        spec.engine(),
        "",
        0,
        0,
        "",
        List.of(),
        0,
        0,
        spec.embeddings(),
        0,
        0,
        0,
        null,
        "",
        false);
  }

  private void run() {
    WorkerLife earlier = before;
    if (earlier != null) {
      earlier.awaitEnd();
      report = earlier.report();
      before = null; // or every life since the agent's start would be kept
    }
    try {
      while (!stopping.get()) {
        Duration pause = pauseAfter(attempt());
        Thread.sleep(pause);
      }
    } catch (InterruptedException e) {
      LOG.log(System.Logger.Level.DEBUG, "{0} was told to end", spec.id());
    } catch (RuntimeException e) {
      LOG.log(System.Logger.Level.ERROR, "The supervision of " + spec.id() + " failed", e);
      stopReason = "Its supervision failed; the agent's log says why. Restart it by hand.";
    } finally {
      stopping.set(true);
      change(report().generation(), Phase.STOPPED, stopReason);
      ended.accept(this);
      end.countDown();
    }
  }

  /** Says how the try came out, and how long to wait before the next. */
  private Duration pauseAfter(Outcome outcome) throws InterruptedException {
    if (stopping.get()) {
      throw new InterruptedException();
    }
    long generation = report().generation();
    SupervisorLimits limits = surroundings.limits();
    return switch (outcome) {
      case Outcome.Refused refused -> {
        // Free memory is another number at every look; that alone is no news.
        String kind = refused.reason().replaceAll("[0-9.,]+", "#");
        if (!kind.equals(lastRefusal)) {
          happened(Severity.ERROR, "worker-refused", refused.reason());
        }
        lastRefusal = kind;
        publish(
            last -> Reports.refused(last, spec, generation, refused.reason(), refused.forMemory()));
        yield limits.refusedPause();
      }
      case Outcome.Died died -> {
        lastRefusal = "";
        failures = died.ranWell() ? 0 : failures;
        Duration pause = limits.pause(failures, surroundings.random().nextDouble());
        failures = Math.min(failures + 1, 30);
        String reason = "%s It is started again in %s.".formatted(died.reason(), seconds(pause));
        happened(Severity.WARNING, died.kind(), reason);
        change(generation, Phase.WAITING, reason);
        yield pause;
      }
    };
  }

  private Outcome attempt() throws InterruptedException {
    long generation;
    try {
      generation = surroundings.generations().next();
    } catch (IOException e) {
      return new Outcome.Refused("The launch can't be numbered: " + e.getMessage());
    }
    change(generation, Phase.PREPARING, "");
    Optional<String> forbidden = surroundings.policy().check(spec);
    EngineAdapter adapter = surroundings.adapters().get(spec.engine());
    if (forbidden.isPresent()) {
      return new Outcome.Refused(forbidden.get());
    }
    if (adapter == null) {
      return new Outcome.Refused("This agent does not know the engine " + spec.engine() + ".");
    }
    Optional<String> contradiction = adapter.contradiction(spec);
    if (contradiction.isPresent()) {
      return new Outcome.Refused(contradiction.get());
    }
    try {
      Path model =
          surroundings.models().fetch(spec.source(), adapter.modelForm(), surroundings.listener());
      WorkerSpec sized = AutoSlots.decided(spec, some -> hasRoom(adapter, some, model));
      MemoryNeed need = adapter.memoryNeed(sized, model);
      int longestToken = adapter.longestTokenBytes(model);
      adapter.prepare(spec, surroundings.listener());
      String fingerprint = ModelFingerprint.of(model);
      update(last -> Reports.model(last, longestToken, fingerprint));
      return new EngineLaunch(this, sized, surroundings, adapter, log, model, need, generation)
          .run();
    } catch (ModelUnavailable | ModelRefused | EngineUnavailable e) {
      return new Outcome.Refused(String.valueOf(e.getMessage()));
    }
  }

  private boolean hasRoom(EngineAdapter adapter, WorkerSpec some, Path model) {
    try {
      return surroundings
          .claims()
          .shortage(
              adapter.memoryNeed(some, model),
              surroundings.memory(some),
              surroundings.policy().memoryFraction())
          .isEmpty();
    } catch (ModelRefused unreadable) {
      return true; // Said by whoever reads the file next.
    }
  }

  /** Puts a changed report in place without telling anybody: what is looked at now and then. */
  void update(UnaryOperator<WorkerReport> change) {
    report = change.apply(report());
  }

  /** Puts a changed report in place and tells the listener. */
  void publish(UnaryOperator<WorkerReport> change) {
    WorkerReport next = change.apply(report());
    report = next;
    surroundings.listener().workerChanged(next);
  }

  private void change(long generation, Phase phase, String reason) {
    publish(last -> Reports.phase(last, spec, generation, phase, reason));
  }

  void happened(Severity severity, String kind, String message) {
    surroundings
        .listener()
        .happened(new Happened(surroundings.clock().instant(), severity, kind, spec.id(), message));
  }

  static String seconds(Duration duration) {
    return String.format(Locale.ROOT, "%.1f s", duration.toMillis() / 1000.0);
  }
}
