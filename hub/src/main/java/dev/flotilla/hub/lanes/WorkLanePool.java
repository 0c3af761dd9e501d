package dev.flotilla.hub.lanes;

import dev.flotilla.hub.lanes.BoundLanes.Launch;
import dev.flotilla.hub.routing.Dialer;
import dev.flotilla.wire.lanes.LaneLine;
import dev.flotilla.wire.text.Counted;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The work lanes of one node.
 *
 * <p><b>What it holds.</b> Unopened lanes, last in first out; opened lanes between two requests, by
 * worker and launch; and the set of all, those in use included. A request gets a bound lane of its
 * worker's launch where one is idle, else an unopened one, for which it waits a bounded time.
 *
 * <p><b>Generations.</b> Only lanes of the agent generation that the control lane was admitted with
 * are given out. A lane of a lower one is refused, and closed where it was there before; one of a
 * higher one waits for its control lane. A lane is put back only while its worker's launch is the
 * current one ({@link #serves}); a new launch, or {@link #stopped}, closes the idle lanes of the
 * old.
 *
 * <p><b>More lanes.</b> The agent keeps some lanes waiting by itself. When requests wait and what
 * is unopened or already asked for does not suffice, the agent is asked for more, through its
 * control lane.
 *
 * <p><b>Concurrency.</b> One lock; nothing blocks under it: sockets are closed and messages sent
 * after it is released.
 *
 * <p><b>Invariants</b> ({@link #checkInvariants}): a lane's {@code place} tells in which collection
 * it is, every lane of the pool has one, and counts stay within {@link LaneLimits}.
 */
public final class WorkLanePool {
  /** Lanes that die as they are opened and are replaced by another, for one request. */
  private static final int OPEN_ATTEMPTS = 3;

  /** How long a lane is idle between requests before its end is watched for. */
  private static final Duration WATCH_AFTER = Duration.ofMillis(500);

  private final String node;
  private final LaneLimits limits;
  private final LongSupplier nanoTime;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition donated = lock.newCondition();
  private final Set<WorkLane> all = new HashSet<>();
  private final Deque<WorkLane> unopened = new ArrayDeque<>();
  private final BoundLanes bound = new BoundLanes();
  private long agentGeneration;
  private final LaneDemand demand = new LaneDemand();
  private IntConsumer asker = _ -> {};

  WorkLanePool(String node, LaneLimits limits, LongSupplier nanoTime) {
    this.node = node;
    this.limits = limits;
    this.nanoTime = nanoTime;
  }

  /** Gives connections to one launch of one worker. */
  public Dialer dialer(String worker, long generation) {
    Launch launch = new Launch(worker, generation);
    return (fresh, limit) -> dial(launch, fresh, limit);
  }

  /** From now on lanes of this launch may be kept; those of another one are closed. */
  public void serves(String worker, long generation) {
    removeAndClose(() -> {
      bound.serves(worker, generation);
      return bound.matching(
          lane -> lane.worker.equals(worker) && lane.workerGeneration != generation);
    });
  }

  /** The worker stops: its idle lanes are closed, and none is kept any more. */
  public void stopped(String worker) {
    removeAndClose(() -> {
      bound.stopped(worker);
      return bound.matching(lane -> lane.worker.equals(worker));
    });
  }

  /**
   * Closes every lane of the worker, those in use too: their requests end with an error.
   *
   * @return how many were in use
   */
  public int cut(String worker) {
    stopped(worker);
    return removeAndClose(() ->
        all.stream()
            .filter(lane -> lane.place == WorkLane.Place.IN_USE && lane.worker.equals(worker))
            .toList());
  }

  /** Lanes that wait unopened. */
  public int idle() {
    lock.lock();
    try {
      return unopened.size();
    } finally {
      lock.unlock();
    }
  }

  /** Lanes that are opened, in use or bound. */
  public int open() {
    lock.lock();
    try {
      return all.size() - unopened.size();
    } finally {
      lock.unlock();
    }
  }

  /**
   * A control lane of this generation was welcomed. An agent that started anew carries on nothing
   * of what the one before carried: those lanes are closed, in use or not, since a machine that
   * lost its power, or a process that became another, never closes them itself.
   *
   * @param ask asks the agent for so many more lanes; must not block
   */
  void admitted(long generation, IntConsumer ask) {
    removeAndClose(() -> {
      agentGeneration = generation;
      asker = ask;
      demand.forgetAsked();
      donated.signalAll();
      return all.stream().filter(lane -> lane.agentGeneration < generation).toList();
    });
    askForMore();
  }

  /**
   * The control lane that asked through {@code ask} is over. What runs goes on; lanes between
   * requests are in doubt and are closed.
   */
  void torn(IntConsumer ask) {
    removeAndClose(() -> {
      if (!asker.equals(ask)) {
        return List.of();
      }
      asker = _ -> {};
      return bound.matching(_ -> true);
    });
  }

  /** Why a lane of this generation can't be taken in now; empty where it can. */
  String refusal(long generation) {
    lock.lock();
    try {
      if (generation < agentGeneration) {
        return "Generation %d of the agent of node %s is over: generation %d took its place."
            .formatted(generation, node, agentGeneration);
      }
      if (all.size() >= limits.lanesMax() || unopened.size() >= limits.unopenedMax()) {
        return "Node %s has %s, %d of them unopened; at most %d and %d are taken."
            .formatted(
                node,
                Counted.of(all.size(), "lane"),
                unopened.size(),
                limits.lanesMax(),
                limits.unopenedMax());
      }
      return "";
    } finally {
      lock.unlock();
    }
  }

  /** Takes a lane in; false where it must be closed instead. */
  boolean donated(WorkLane lane) {
    lock.lock();
    try {
      if (!refusal(lane.agentGeneration).isEmpty() || lane.isClosed()) {
        return false;
      }
      all.add(lane);
      unopened.addFirst(lane);
      lane.place = WorkLane.Place.UNOPENED;
      lane.idleSince = nanoTime.getAsLong();
      demand.met();
      donated.signal();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Takes the lane out where it is watched and no request took it since. */
  boolean dropWatched(WorkLane lane) {
    lock.lock();
    try {
      boolean idle = lane.place == WorkLane.Place.BOUND && lane.watched;
      if (idle) {
        remove(lane);
      }
      return idle;
    } finally {
      lock.unlock();
    }
  }

  /** Whether a request has the lane, which then is no other's: the server stops. */
  boolean isEndingAfterUse(WorkLane lane) {
    lock.lock();
    try {
      lane.last = true;
      return lane.place == WorkLane.Place.IN_USE;
    } finally {
      lock.unlock();
    }
  }

  boolean isUnopened(WorkLane lane) {
    lock.lock();
    try {
      return lane.place == WorkLane.Place.UNOPENED;
    } finally {
      lock.unlock();
    }
  }

  /** The lane is closed. */
  void gone(WorkLane lane) {
    lock.lock();
    try {
      remove(lane);
    } finally {
      lock.unlock();
    }
  }

  /** Closes what was idle for too long, and lets the rest be watched. Called every second. */
  void sweep() {
    long now = nanoTime.getAsLong();
    removeAndClose(() -> {
      bound
          .matching(lane -> !lane.watched && now - lane.idleSince >= WATCH_AFTER.toNanos())
          .forEach(WorkLane::watchIdle);
      List<WorkLane> old =
          bound.matching(lane -> now - lane.idleSince >= limits.boundIdle().toNanos());
      int surplus = unopened.size() - limits.idleLanes();
      Iterator<WorkLane> oldestFirst = unopened.descendingIterator();
      while (surplus-- > 0) {
        WorkLane lane = oldestFirst.next();
        if (now - lane.idleSince >= limits.surplusIdle().toNanos()) {
          old.add(lane);
        }
      }
      return old;
    });
  }

  void closeAll() {
    removeAndClose(() -> List.copyOf(all));
  }

  private Dialer.Lease dial(Launch launch, boolean fresh, Duration limit) throws IOException {
    WorkLane idle = fresh ? null : takeBound(launch);
    if (idle != null) {
      return new LaneLease(this, idle, true);
    }
    Duration wait = limit.compareTo(limits.laneWait()) < 0 ? limit : limits.laneWait();
    long deadline = System.nanoTime() + wait.toNanos();
    for (int attempt = 1; ; attempt++) {
      WorkLane lane = takeUnopened(launch, deadline, wait);
      LaneLine answer;
      try {
        answer = lane.open(launch.worker(), launch.generation(), limits.openWait());
      } catch (IOException e) {
        lane.close();
        if (attempt == OPEN_ATTEMPTS || Thread.currentThread().isInterrupted()) {
          throw new IOException(
              "no lane to worker " + launch.worker() + " on node " + node + ": " + e.getMessage(),
              e);
        }
        continue;
      }
      if (answer instanceof LaneLine.Opened) {
        return new LaneLease(this, lane, false);
      }
      lane.close();
      String why =
          answer instanceof LaneLine.Refused refused ? refused.reason() : "it answered " + answer;
      throw new IOException("node " + node + " can't reach worker " + launch.worker() + ": " + why);
    }
  }

  private @Nullable WorkLane takeBound(Launch launch) {
    lock.lock();
    try {
      WorkLane lane = bound.poll(launch);
      if (lane != null) {
        lane.place = WorkLane.Place.IN_USE;
        lane.watched = false;
      }
      return lane;
    } finally {
      lock.unlock();
    }
  }

  private WorkLane takeUnopened(Launch launch, long deadline, Duration wait) throws IOException {
    changeWaiting(1);
    try {
      while (true) {
        askForMore();
        lock.lock();
        try {
          WorkLane lane = pollUnopened(launch);
          if (lane != null) {
            return lane;
          }
          long left = deadline - System.nanoTime();
          if (left <= 0) {
            throw new IOException(
                "no lane to node %s within %d ms: it has %s (at most %d), %d of them unopened; %s for one"
                    .formatted(
                        node,
                        wait.toMillis(),
                        Counted.of(all.size(), "lane"),
                        limits.lanesMax(),
                        unopened.size(),
                        Counted.of(demand.waiting, "request waits", "requests wait")));
          }
          var _ = donated.awaitNanos(Math.min(left, LaneDemand.ASK_AGAIN.toNanos()));
        } finally {
          lock.unlock();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for a lane to node " + node, e);
    } finally {
      changeWaiting(-1);
    }
  }

  private void changeWaiting(int by) {
    lock.lock();
    try {
      demand.waiting += by;
    } finally {
      lock.unlock();
    }
  }

  private @Nullable WorkLane pollUnopened(Launch launch) {
    for (Iterator<WorkLane> lanes = unopened.iterator(); lanes.hasNext(); ) {
      WorkLane lane = lanes.next();
      if (lane.agentGeneration == agentGeneration) {
        lanes.remove();
        lane.place = WorkLane.Place.IN_USE;
        lane.worker = launch.worker();
        lane.workerGeneration = launch.generation();
        return lane;
      }
    }
    return null;
  }

  /** Asks the agent for lanes where more requests wait than lanes are there or on their way. */
  private void askForMore() {
    IntConsumer ask;
    int more;
    lock.lock();
    try {
      more = demand.ask(System.nanoTime(), unopened.size(), limits.lanesMax() - all.size());
      ask = asker;
    } finally {
      lock.unlock();
    }
    if (more > 0) {
      ask.accept(more);
    }
  }

  /** Puts a lane back after a reply that ended framed whole. */
  void keep(WorkLane lane) {
    boolean kept;
    lock.lock();
    try {
      kept =
          lane.place == WorkLane.Place.IN_USE
              && !lane.last
              && !lane.isClosed()
              && bound.offer(lane, nanoTime.getAsLong());
    } finally {
      lock.unlock();
    }
    if (!kept) {
      lane.close();
    }
  }

  private void remove(WorkLane lane) {
    all.remove(lane);
    if (lane.place == WorkLane.Place.UNOPENED) {
      unopened.remove(lane);
    } else if (lane.place == WorkLane.Place.BOUND) {
      bound.remove(lane);
    }
    lane.place = WorkLane.Place.NOWHERE;
  }

  /** Chooses under the lock, closes after it. */
  private int removeAndClose(Supplier<List<WorkLane>> choice) {
    List<WorkLane> chosen;
    lock.lock();
    try {
      chosen = choice.get();
      chosen.forEach(this::remove);
    } finally {
      lock.unlock();
    }
    chosen.forEach(WorkLane::close);
    return chosen.size();
  }

  /** For tests: idle lanes whose end is watched for. */
  int watched() {
    lock.lock();
    try {
      return bound.matching(lane -> lane.watched).size();
    } finally {
      lock.unlock();
    }
  }

  /** For tests: fails where the collections and the lanes disagree. */
  void checkInvariants() {
    lock.lock();
    try {
      long inUse = all.stream().filter(lane -> lane.place == WorkLane.Place.IN_USE).count();
      int idleBound = bound.checkInvariants();
      if (all.size() != unopened.size() + idleBound + inUse
          || all.size() > limits.lanesMax()
          || demand.waiting < 0) {
        throw new AssertionError(
            "%d lanes of at most %d: %d unopened, %d bound, %d in use; %d requests wait"
                .formatted(
                    all.size(),
                    limits.lanesMax(),
                    unopened.size(),
                    idleBound,
                    inUse,
                    demand.waiting));
      }
    } finally {
      lock.unlock();
    }
  }
}
