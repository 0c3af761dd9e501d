package dev.flotilla.hub.proof;

import dev.flotilla.hub.fleet.Fleet;
import dev.flotilla.hub.fleet.NodeView;
import dev.flotilla.hub.fleet.ProofCandidate;
import dev.flotilla.hub.fleet.ProofVerdict;
import dev.flotilla.hub.fleet.WorkerView;
import dev.flotilla.hub.routing.Dispatcher;
import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.hub.routing.Ledger;
import dev.flotilla.hub.routing.Reservation;
import dev.flotilla.hub.routing.Speeds;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.WorkerSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks for launches that wait to be proved and sees to it that each is.
 *
 * <p><b>Turns.</b> One proof at a time on a machine, however many agents it has, so that none is
 * slowed by another of the hub's making; {@link ProofLimits#atOnce()} in all. A proof that takes
 * longer than {@link ProofLimits#whole()} is broken off, and its worker refused.
 *
 * <p><b>What stands.</b> A launch that was proved already (its node was away, the hub was started
 * again), and one whose equal was proved whole within the day, serves at once. A model's first
 * worker, and one whose equal passed and is still being measured, serves after sanity and a short
 * check of its speed; its curve is measured afterwards, where nobody is kept waiting by it.
 *
 * <p><b>Concurrency.</b> One thread looks, after each change of the fleet and now and then; each
 * proof and each measuring has a virtual thread. The fleet itself decides whether a proof still
 * counts when it ends, so nothing here needs to be right about that.
 *
 * <p><b>Life.</b> From {@link #start} to {@link #close}, which breaks off what goes on.
 */
public final class Prover implements AutoCloseable {
  private static final Duration LOOK_EVERY = Duration.ofSeconds(1);
  private static final System.Logger LOG = System.getLogger(Prover.class.getName());

  private final Fleet fleet;
  private final Dispatcher dispatcher;
  private final Ledger ledger;
  private final Speeds speeds;
  private final Supplier<FleetSpec> spec;
  private final ProofArchive archive;
  private final ProofRun run;
  private final ProofLimits limits;
  private final LongSupplier nanoClock;

  private final Semaphore changed = new Semaphore(1);
  private final Set<String> busyNodes = ConcurrentHashMap.newKeySet();
  private final ConcurrentHashMap<String, Curve> curves = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<String, Boolean> measuring = new ConcurrentHashMap<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Thread looker;

  /**
   * @param spec the configuration in force
   */
  public Prover(
      Fleet fleet,
      Dispatcher dispatcher,
      Ledger ledger,
      Speeds speeds,
      Supplier<FleetSpec> spec,
      ProofArchive archive,
      ProofRun run,
      ProofLimits limits,
      LongSupplier nanoClock) {
    this.fleet = fleet;
    this.dispatcher = dispatcher;
    this.ledger = ledger;
    this.speeds = speeds;
    this.spec = spec;
    this.archive = archive;
    this.run = run;
    this.limits = limits;
    this.nanoClock = nanoClock;
    this.looker = Thread.ofVirtual().name("prover").unstarted(this::lookUntilClosed);
    fleet.onChange(() -> {
      changed.drainPermits();
      changed.release();
    });
  }

  public void start() {
    looker.start();
  }

  /** What was measured of a launch; empty where nothing was yet. */
  Optional<Curve> curve(String ledgerKey) {
    return Optional.ofNullable(curves.get(ledgerKey));
  }

  /** What the model's promise asks of each request's speed, 0 for nothing. */
  double floor(String model) {
    return model(model).map(each -> each.promise().minDecode()).orElse(0.0);
  }

  private void lookUntilClosed() {
    while (!Thread.currentThread().isInterrupted()) {
      try {
        var _ = changed.tryAcquire(LOOK_EVERY.toMillis(), TimeUnit.MILLISECONDS);
        look();
      } catch (InterruptedException _) {
        return;
      } catch (RuntimeException e) {
        LOG.log(System.Logger.Level.ERROR, "The prover failed and goes on.", e);
      }
    }
  }

  private void look() {
    for (ProofCandidate candidate : fleet.proofCandidates()) {
      Optional<ProofRecord> standing =
          candidate.fresh() || candidate.asReference()
              ? Optional.empty()
              : archive.standing(
                  ProofKey.of(candidate), candidate.worker(), candidate.generation());
      if (standing.filter(proof -> keepsFloor(candidate, proof)).isPresent()) {
        stand(candidate, standing.get());
      } else if (busyNodes.size() < limits.atOnce() && !provesOn(candidate.target().node())) {
        busyNodes.add(candidate.target().node());
        var _ = threads.submit(() -> prove(candidate));
      }
    }
    Set<String> known = new HashSet<>();
    fleet.workers().forEach(worker -> known.add(worker.name() + '#' + worker.generation()));
    curves.keySet().retainAll(known);
  }

  private boolean keepsFloor(ProofCandidate candidate, ProofRecord proof) {
    Curve curve = proof.curve();
    return curve == null || curve.keeps(floor(candidate.model()));
  }

  private void stand(ProofCandidate candidate, ProofRecord proof) {
    boolean own =
        proof.worker().equals(candidate.worker()) && proof.generation() == candidate.generation();
    if (!own) {
      archive.add(
          proof.standingFor(candidate.worker(), candidate.target().node(), candidate.generation()));
    }
    admit(candidate, proof);
  }

  private void prove(ProofCandidate candidate) {
    String node = candidate.target().node();
    try {
      if (!fleet.proofBegins(candidate, "its proof begins")) {
        return;
      }
      boolean quick = isFirst(candidate) || archive.hasTwin(ProofKey.of(candidate));
      Future<ProofRun.Outcome> going =
          threads.submit(() ->
              run.prove(
                  candidate,
                  quick,
                  floor(candidate.model()),
                  size(candidate),
                  step -> fleet.proofGoesOn(candidate, step)));
      judge(candidate, outcome(candidate, going));
    } catch (InterruptedException _) {
      fleet.proved(candidate, new ProofVerdict.Broken("the hub stops"));
    } catch (RuntimeException e) {
      LOG.log(System.Logger.Level.ERROR, "The proof of " + candidate.worker() + " failed.", e);
      fleet.proved(
          candidate, new ProofVerdict.Refused("its proof failed, the hub's log says how", false));
    } finally {
      busyNodes.remove(node);
      changed.release();
    }
  }

  private ProofRun.Outcome outcome(ProofCandidate candidate, Future<ProofRun.Outcome> going)
      throws InterruptedException {
    try {
      return going.get(limits.whole().toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException late) {
      going.cancel(true);
      return run.tooLong(candidate, limits.whole());
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }

  private void judge(ProofCandidate candidate, ProofRun.Outcome outcome) {
    if (outcome instanceof ProofRun.Outcome.Over) {
      fleet.proved(candidate, new ProofVerdict.Broken("its launch is over"));
      return;
    }
    ProofRun.Outcome.Judged judged = (ProofRun.Outcome.Judged) outcome;
    ProofRecord proof = judged.proof();
    archive.add(proof);
    if (!proof.passed()) {
      fleet.proved(candidate, new ProofVerdict.Refused(proof.reason(), judged.slow()));
      return;
    }
    judged
        .evidence()
        .filter(_ -> proof.reference())
        .ifPresent(evidence -> archive.accept(candidate.model(), evidence, candidate.worker()));
    admit(candidate, proof);
  }

  /** The worker serves from now on; what is not measured yet is measured beside that. */
  private void admit(ProofCandidate candidate, ProofRecord proof) {
    Target target = candidate.target();
    Curve curve = proof.curve();
    boolean measures = !proof.finished() && !candidate.spec().embeddings();
    int slots = proof.finished() && curve != null ? slots(candidate, curve) : 0;
    fleet.proved(candidate, new ProofVerdict.Passed(slots, note(curve, measures)));
    if (curve != null) {
      learn(target, curve);
    }
    if (measures && measuring.putIfAbsent(target.ledgerKey(), true) == null) {
      var _ = threads.submit(() -> measure(candidate, proof));
    }
  }

  private static String note(@Nullable Curve curve, boolean measures) {
    String words = curve == null ? "" : curve.words();
    return measures ? words + (words.isEmpty() ? "measuring" : "; measuring") : words;
  }

  private void learn(Target target, Curve curve) {
    curves.put(target.ledgerKey(), curve);
    speeds.seed(
        target, curve.prefillPerSecond(), curve.decodeByConcurrency(), nanoClock.getAsLong());
  }

  private int slots(ProofCandidate candidate, Curve curve) {
    return candidate.spec().slots() == WorkerSpec.AUTO_SLOTS
        ? curve.slotsThatKeep(floor(candidate.model()), candidate.target().slots())
        : 0;
  }

  /** Measures a worker that serves, when it has nothing to do and as long as that stays so. */
  private void measure(ProofCandidate candidate, ProofRecord proof) {
    Target target = candidate.target();
    try {
      for (int tries = 0; tries < limits.measureTries() && serves(target); tries++) {
        Optional<ProofRecord> twin =
            archive.standing(proof.key(), "", 0).filter(ProofRecord::finished);
        if (twin.isPresent() && twin.get().curve() != null) {
          finish(candidate, proof, twin.get().curve());
          return;
        }
        if (isIdle(target)) {
          try {
            finish(candidate, proof, run.measure(candidate, size(candidate), new Spare(target)));
            return;
          } catch (SpeedRun.Disturbed _) {
            // Another time.
          } catch (IOException failed) {
            LOG.log(
                System.Logger.Level.INFO,
                "measuring " + target.name() + " failed: " + failed.getMessage());
          }
        }
        Thread.sleep(limits.measureWait());
      }
    } catch (InterruptedException _) {
      // The hub stops.
    } catch (RuntimeException e) {
      LOG.log(System.Logger.Level.ERROR, "Measuring " + target.name() + " failed.", e);
    } finally {
      measuring.remove(target.ledgerKey());
    }
  }

  private void finish(ProofCandidate candidate, ProofRecord proof, Curve curve) {
    archive.add(proof.finishedWith(curve, run.now()));
    fleet.proofNoted(
        candidate.worker(), candidate.generation(), slots(candidate, curve), curve.words());
    learn(candidate.target(), curve);
  }

  private boolean serves(Target target) {
    return fleet
        .worker(target.name())
        .filter(worker -> worker.generation() == target.generation())
        .filter(worker ->
            worker.state() == WorkerView.State.SERVING
                || worker.state() == WorkerView.State.SUSPECT)
        .isPresent();
  }

  /** Nothing is asked of anything on the machine, nor proved there. */
  private boolean isIdle(Target target) {
    return !dispatcher.isCrowded() && !provesOn(target.node()) && inFlightOn(target.node()) == 0;
  }

  /** Whether something is being proved on a node's machine. */
  private boolean provesOn(String node) {
    return !Collections.disjoint(fleet.onMachineOf(node), busyNodes);
  }

  /** Requests in flight on all workers of a node's machine; takes no lock of the fleet. */
  public int inFlightOn(String node) {
    int all = 0;
    for (String key : fleet.current().onMachineOf(node)) {
      all += ledger.inFlight(key);
    }
    return all;
  }

  private boolean isFirst(ProofCandidate candidate) {
    FleetSnapshot.Name name = fleet.current().names().get(candidate.model());
    return name == null || name.targets().stream().noneMatch(Target::admitting);
  }

  private Optional<FleetSpec.Model> model(String name) {
    return spec.get().models().stream().filter(each -> each.name().equals(name)).findFirst();
  }

  private SpeedRun.Size size(ProofCandidate candidate) {
    FleetSpec.Limits of = spec.get().limits();
    return new SpeedRun.Size(
        of.proofTokens(),
        of.proofLevel(),
        candidate.target().contextTokens(),
        candidate.target().slots());
  }

  /** Bytes free on a node, by its last word; 0 where unknown. */
  public static long freeMemory(Fleet fleet, String node) {
    return fleet.node(node).map(NodeView::facts).map(NodeFacts::memoryAvailableBytes).orElse(0L);
  }

  /** Places that no client wants, on a worker that serves. */
  private final class Spare implements SpeedRun.Room {
    private final Target target;

    Spare(Target target) {
      this.target = target;
    }

    @Override
    public Optional<AutoCloseable> take(int requests) {
      if (!isIdle(target)) {
        return Optional.empty();
      }
      var places = new ArrayList<Reservation>();
      for (int i = 0; i < requests; i++) {
        dispatcher.spare(target).ifPresent(places::add);
      }
      AutoCloseable all = () -> places.forEach(Reservation::close);
      if (places.size() < requests) {
        places.forEach(Reservation::close);
        return Optional.empty();
      }
      return Optional.of(all);
    }

    @Override
    public boolean disturbed(int requests) {
      return dispatcher.isCrowded()
          || provesOn(target.node())
          || inFlightOn(target.node()) > requests;
    }
  }

  @Override
  public void close() {
    looker.interrupt();
    threads.shutdownNow();
  }
}
