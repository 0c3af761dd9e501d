package dev.flotilla.hub.routing;

import dev.flotilla.hub.routing.Admission.Cancelled;
import dev.flotilla.hub.routing.Admission.Granted;
import dev.flotilla.hub.routing.Admission.NothingServes;
import dev.flotilla.hub.routing.Admission.QueueFull;
import dev.flotilla.hub.routing.Admission.WaitedTooLong;
import dev.flotilla.hub.routing.Admission.Why;
import dev.flotilla.hub.routing.Choice.Candidate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides which target gets which request, and when.
 *
 * <p>Each public name has one bounded queue that is served round robin over the client keys. A
 * request that finds a place at once never enters it. Of the targets with room the one with the
 * least expected time is taken: prompt ÷ speed of reading + expected answer ÷ speed of writing at
 * that concurrency + penalty for recent faults.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>a target never has more requests in flight than slots ({@link Ledger})
 *   <li>while a waiting request could be placed, no later one is placed before it, but for the
 *       rotation over keys
 *   <li>a ticket is settled once; one that is not settled is in exactly one queue
 *   <li>a request is never sent to a target that can't hold it, does not answer its kind, drains,
 *       is set aside, or has failed it before
 *   <li>a request waits only while waiting can help: a place may become free, a pause ends soon, or
 *       a worker is coming
 * </ul>
 *
 * <p>Concurrency: one short lock guards the queues, the faults and every choice; requests wait
 * parked, outside it. What makes places (a closed reservation, a changed fleet) serves the queues
 * on its own thread; the end of a pause is looked for by the waiting threads themselves, so there
 * is no timer thread.
 *
 * <p>A worker that died comes back as another launch, which is another target. So a request whose
 * worker gave no answer waits for that even where every target has failed it: as long as one is
 * known to be coming, and before that for {@link #LAUNCH_NEWS}, in which its agent tells of the
 * death. A worker that is still there after that has not died, and does not get the request again.
 *
 * <p>Bounds: {@link QueueLimits}. A request that comes back after a failed attempt goes before the
 * others of its key and is not refused for a full queue: those are no more than the slots of the
 * fleet.
 */
public final class Dispatcher {
  /** How soon an agent's word of a worker's death is here, if it died. */
  private static final Duration LAUNCH_NEWS = Duration.ofSeconds(2);

  private final FleetSource fleet;
  private final Ledger ledger;
  private final Speeds speeds;
  private final RetryAfter retryAfter;
  private final Supplier<QueueLimits> limits;
  private final LongSupplier nanoClock;
  private final ReentrantLock lock = new ReentrantLock();
  private final Faults faults = new Faults();
  private final Map<String, FairQueue<Ticket>> queues = new HashMap<>();
  private int turn;

  public Dispatcher(
      FleetSource fleet,
      Ledger ledger,
      Speeds speeds,
      Supplier<QueueLimits> limits,
      LongSupplier nanoClock) {
    this.fleet = fleet;
    this.ledger = ledger;
    this.speeds = speeds;
    this.retryAfter = new RetryAfter(speeds);
    this.limits = limits;
    this.nanoClock = nanoClock;
    ledger.onClose(this::closed);
    fleet.onChange(this::fleetChanged);
  }

  /** Asks for a place. The ticket may be settled already. */
  public Ticket enter(RequestNeeds needs) {
    return enter(needs, Duration.ZERO);
  }

  /**
   * Asks for a place after a target gave no answer: if that was a worker that died, its next launch
   * is worth waiting for.
   */
  public Ticket enterAfterSilence(RequestNeeds needs) {
    return enter(needs, LAUNCH_NEWS);
  }

  private Ticket enter(RequestNeeds needs, Duration hope) {
    lock.lock();
    try {
      long now = nanoClock.getAsLong();
      QueueLimits bounds = limits.get();
      Ticket ticket =
          new Ticket(this, needs, now, now + bounds.longestWait().toNanos(), now + hope.toNanos());
      FleetSnapshot.@Nullable Name name = fleet.current().names().get(needs.model());
      FairQueue<Ticket> queue = queues.get(needs.model());
      if (queue != null) {
        serve(needs.model(), queue, now);
      }
      if (!decide(ticket, name, now)) {
        line(ticket, bounds, name, now);
      }
      return ticket;
    } finally {
      lock.unlock();
    }
  }

  /**
   * A place for the hub's own work, which comes after every client's: only where the target has
   * room and nobody waits. It counts like any other until it is closed.
   */
  public Optional<Reservation> spare(Target target) {
    lock.lock();
    try {
      if (!queues.isEmpty() || !target.admitting()) {
        return Optional.empty();
      }
      return Optional.ofNullable(ledger.reserve(target, nanoClock.getAsLong()));
    } finally {
      lock.unlock();
    }
  }

  /** Whether anybody waits for a place. */
  public boolean isCrowded() {
    lock.lock();
    try {
      return !queues.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  private void line(
      Ticket ticket, QueueLimits bounds, FleetSnapshot.@Nullable Name name, long now) {
    RequestNeeds needs = ticket.needs();
    FairQueue<Ticket> queue = queues.computeIfAbsent(needs.model(), model -> new FairQueue<>());
    boolean again = !needs.tried().isEmpty();
    if (!again && queue.size() >= bounds.perName()) {
      ticket.settle(new QueueFull(bounds.perName(), false, retryAfter.of(name, queue.size(), now)));
    } else if (!again && !needs.key().isEmpty() && queue.size(needs.key()) >= bounds.perKey()) {
      ticket.settle(
          new QueueFull(bounds.perKey(), true, retryAfter.of(name, queue.size(needs.key()), now)));
    } else {
      queue.add(needs.key(), ticket, again);
    }
    if (queue.size() == 0) {
      queues.remove(needs.model());
    }
  }

  /** Settles the ticket where it can be placed or waiting is pointless; false: it has to wait. */
  private boolean decide(Ticket ticket, FleetSnapshot.@Nullable Name name, long now) {
    RequestNeeds needs = ticket.needs();
    if (name == null) {
      ticket.settle(
          new NothingServes(
              Why.UNKNOWN_NAME,
              "there is no model '" + needs.model() + "'",
              0,
              "model",
              RetryAfter.LEAST));
      return true;
    }
    Survey survey = Survey.of(needs, name, ledger, faults, now, ticket.hopes(now));
    Target target = survey.only();
    List<Target> free = survey.free();
    if (free != null) {
      target = fastest(free, name, needs, now);
    }
    if (target != null) {
      grant(ticket, target, now);
      return true;
    }
    NothingServes refusal = survey.refusal(needs, name);
    if (refusal != null) {
      ticket.settle(refusal);
      return true;
    }
    return false;
  }

  private void grant(Ticket ticket, Target target, long now) {
    Reservation reservation = ledger.reserve(target, now);
    if (reservation == null) {
      throw new IllegalStateException(target + " had room and has none, under the lock");
    }
    faults.begun(reservation);
    ticket.settle(new Granted(reservation, now - ticket.enteredNanos()));
  }

  private @Nullable Target fastest(
      List<Target> free, FleetSnapshot.Name name, RequestNeeds needs, long now) {
    Speeds.Neutral neutral = speeds.neutral(name.targets());
    List<Candidate> candidates = new ArrayList<>(free.size());
    for (Target each : free) {
      int inFlight = ledger.inFlight(each.ledgerKey());
      double seconds =
          speeds.expectedSeconds(each, needs, inFlight + 1, neutral, now)
              + faults.penaltySeconds(each.ledgerKey(), now);
      candidates.add(new Candidate(each, inFlight, seconds));
    }
    return Choice.pick(candidates, turn++);
  }

  /** Places whom it can; called after anything that may have made a place. */
  private void serve(String model, FairQueue<Ticket> queue, long now) {
    FleetSnapshot.@Nullable Name name = fleet.current().names().get(model);
    if (name != null) {
      while (queue.size() > 0 && room(name, now) && queue.take(each -> decide(each, name, now))) {
        // each round places or refuses one
      }
    }
    if (queue.size() == 0) {
      queues.remove(model);
    }
  }

  private boolean room(FleetSnapshot.Name name, long now) {
    for (Target target : name.targets()) {
      String key = target.ledgerKey();
      if (target.admitting() && ledger.inFlight(key) < target.slots() && faults.admits(key, now)) {
        return true;
      }
    }
    return false;
  }

  /** Places whom it can and refuses those for whom waiting became pointless. */
  private void review(long now) {
    for (Map.Entry<String, FairQueue<Ticket>> entry : List.copyOf(queues.entrySet())) {
      FleetSnapshot.@Nullable Name name = fleet.current().names().get(entry.getKey());
      while (entry.getValue().take(each -> decide(each, name, now))) {
        // each round places or refuses one
      }
      if (entry.getValue().size() == 0) {
        queues.remove(entry.getKey());
      }
    }
  }

  /**
   * A look by a waiting thread: pauses may have ended, or its own time may be up.
   *
   * @return nanoseconds until it should look again
   */
  long look(Ticket ticket) {
    lock.lock();
    try {
      FairQueue<Ticket> queue = queues.get(ticket.needs().model());
      if (ticket.settled() != null || queue == null) {
        return 0;
      }
      long now = nanoClock.getAsLong();
      serve(ticket.needs().model(), queue, now);
      long left = ticket.deadlineNanos() - now;
      FleetSnapshot.@Nullable Name name = fleet.current().names().get(ticket.needs().model());
      if (ticket.settled() == null && ticket.hopeIsOver(now) && decide(ticket, name, now)) {
        remove(ticket);
      }
      if (ticket.settled() == null && left <= 0) {
        remove(ticket);
        ticket.settle(
            new WaitedTooLong(
                Duration.ofNanos(ticket.deadlineNanos() - ticket.enteredNanos()),
                retryAfter.of(name, queue.size(), now)));
      }
      long hope = ticket.hopeNanos(now);
      return Math.min(
          hope > 0 ? Math.min(left, hope) : left, soonestPauseEnd(ticket.needs().model(), now));
    } finally {
      lock.unlock();
    }
  }

  private long soonestPauseEnd(String model, long now) {
    FleetSnapshot.@Nullable Name name = fleet.current().names().get(model);
    long soonest = Long.MAX_VALUE;
    if (name != null) {
      for (Target target : name.targets()) {
        long aside = faults.asideNanos(target.ledgerKey(), now);
        soonest = aside > 0 ? Math.min(soonest, aside) : soonest;
      }
    }
    return soonest;
  }

  void cancel(Ticket ticket) {
    lock.lock();
    try {
      if (ticket.settled() == null) {
        remove(ticket);
        ticket.settle(new Cancelled());
      }
    } finally {
      lock.unlock();
    }
  }

  private void remove(Ticket ticket) {
    FairQueue<Ticket> queue = queues.get(ticket.needs().model());
    if (queue != null) {
      queue.remove(ticket.needs().key(), ticket);
      if (queue.size() == 0) {
        queues.remove(ticket.needs().model());
      }
    }
  }

  private void closed(Reservation reservation) {
    Reservation.Verdict verdict = reservation.verdict();
    lock.lock();
    try {
      long now = nanoClock.getAsLong();
      if (verdict.failed()) {
        faults.fault(reservation, verdict.reason(), verdict.stalled(), now);
      } else if (verdict.served()) {
        faults.success(reservation);
      }
      faults.closed(reservation);
      if (verdict.failed() || verdict.served()) {
        ledger.count(reservation.target(), verdict.served());
      }
      if (queues.isEmpty()) {
        return;
      }
      if (verdict.failed()) {
        review(now);
        return;
      }
      for (Map.Entry<String, FairQueue<Ticket>> entry : List.copyOf(queues.entrySet())) {
        serve(entry.getKey(), entry.getValue(), now);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Blames the target of an attempt that has ended without a verdict: what it answered is known to
   * be its own fault only since another target served the same request.
   */
  public void blame(Reservation ended, String reason) {
    lock.lock();
    try {
      long now = nanoClock.getAsLong();
      faults.fault(ended, reason, false, now);
      ledger.count(ended.target(), false);
      review(now);
    } finally {
      lock.unlock();
    }
  }

  private void fleetChanged() {
    lock.lock();
    try {
      Set<String> keys = new HashSet<>();
      Set<String> names = new HashSet<>();
      Set<String> models = new HashSet<>();
      for (FleetSnapshot.Name name : fleet.current().names().values()) {
        for (Target target : name.targets()) {
          keys.add(target.ledgerKey());
          names.add(target.name());
          models.add(target.model());
        }
        models.add(name.name());
      }
      ledger.retain(keys, names);
      speeds.retain(names, models);
      faults.retain(keys);
      review(nanoClock.getAsLong());
    } finally {
      lock.unlock();
    }
  }

  /** Requests that wait for each public name; names without any are left out. */
  public Map<String, Integer> waiting() {
    lock.lock();
    try {
      Map<String, Integer> waiting = new HashMap<>();
      queues.forEach((model, queue) -> waiting.put(model, queue.size()));
      return waiting;
    } finally {
      lock.unlock();
    }
  }

  /** Every target of the fleet with what is known of it, each once. */
  public List<TargetLoad> loads() {
    lock.lock();
    try {
      long now = nanoClock.getAsLong();
      Map<String, TargetLoad> loads = new java.util.TreeMap<>();
      for (FleetSnapshot.Name name : fleet.current().names().values()) {
        for (Target target : name.targets()) {
          String key = target.ledgerKey();
          loads.put(
              key,
              new TargetLoad(
                  target.name(),
                  ledger.inFlight(key),
                  speeds.decodeTokensPerSecond(target),
                  speeds.prefillTokensPerSecond(target),
                  ledger.served(target.name()),
                  ledger.failed(target.name()),
                  faults.asideNanos(key, now) / 1_000_000));
        }
      }
      return List.copyOf(loads.values());
    } finally {
      lock.unlock();
    }
  }

  /** Whether a request for the name could be placed or would be let wait. */
  public boolean serves(FleetSnapshot.Name name) {
    lock.lock();
    try {
      long now = nanoClock.getAsLong();
      for (Target target : name.targets()) {
        if (target.admitting() && faults.asideNanos(target.ledgerKey(), now) == 0) {
          return true;
        }
      }
      return false;
    } finally {
      lock.unlock();
    }
  }

  /** Fails where an invariant of the class comment does not hold; for tests. */
  public void checkInvariants() {
    ledger.checkInvariants();
    lock.lock();
    try {
      long now = nanoClock.getAsLong();
      for (Map.Entry<String, FairQueue<Ticket>> entry : queues.entrySet()) {
        List<Ticket> waiting = entry.getValue().items();
        if (waiting.isEmpty() || waiting.size() != entry.getValue().size()) {
          throw new AssertionError("queue of " + entry.getKey() + " miscounts " + waiting.size());
        }
        for (Ticket ticket : waiting) {
          if (ticket.settled() != null) {
            throw new AssertionError("a settled ticket waits: " + ticket.settled());
          }
          FleetSnapshot.@Nullable Name name = fleet.current().names().get(entry.getKey());
          if (name != null
              && Survey.of(ticket.needs(), name, ledger, faults, now, false).only() != null) {
            throw new AssertionError("a request waits beside a free target: " + ticket.needs());
          }
        }
      }
    } finally {
      lock.unlock();
    }
  }
}
