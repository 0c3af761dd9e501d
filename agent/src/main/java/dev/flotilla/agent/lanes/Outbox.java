package dev.flotilla.agent.lanes;

import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.lanes.ControlMessage.FromAgent;
import dev.flotilla.wire.lanes.ControlMessage.Goodbye;
import dev.flotilla.wire.lanes.ControlMessage.Happened;
import dev.flotilla.wire.lanes.ControlMessage.Progress;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import dev.flotilla.wire.lanes.ControlMessage.UpdateStep;
import dev.flotilla.wire.lanes.ControlMessage.WorkerChanged;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What waits to be said to the hub, also while there is none.
 *
 * <p>Of a worker, an update and a long step only the newest state waits: what it was before is of
 * no use to anybody. Events all wait, up to a limit; then the oldest are dropped and counted, and
 * the hub is told how many. Any thread puts in, and none waits for that; one thread takes out.
 *
 * <p>Events that were handed to a connection which then broke may be lost: the lane has no
 * acknowledgements. Those of which the writing itself failed come back with {@link #giveBack}.
 */
public final class Outbox {
  private final AgentLaneLimits limits;
  private final InstantSource clock;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition filled = lock.newCondition();
  private final Map<String, WorkerReport> workers = new LinkedHashMap<>();
  private final Map<String, Progress> steps = new LinkedHashMap<>();
  private final Deque<Happened> events = new ArrayDeque<>();
  private final Map<String, UpdateStep> updates = new LinkedHashMap<>();
  private @Nullable Goodbye goodbye;
  private long dropped;
  private long droppedAndUnsaid;

  public Outbox(AgentLaneLimits limits, InstantSource clock) {
    this.limits = limits;
    this.clock = clock;
  }

  public void worker(WorkerReport report) {
    put(() -> workers.put(report.id(), report));
  }

  public void progress(Progress step) {
    put(() -> {
      steps.remove(step.subject());
      if (steps.size() >= limits.subjectsKept()) {
        steps.remove(steps.keySet().iterator().next());
      }
      steps.put(step.subject(), step);
    });
  }

  public void event(Happened event) {
    put(() -> {
      events.addLast(event);
      trim();
    });
  }

  /** Of each version only the newest step waits. */
  public void update(UpdateStep step) {
    put(() -> {
      updates.remove(step.version());
      if (updates.size() >= limits.subjectsKept()) {
        updates.remove(updates.keySet().iterator().next());
      }
      updates.put(step.version(), step);
    });
  }

  void goodbye(Goodbye word) {
    put(() -> goodbye = word);
  }

  /** Forgets what was to be said of workers: a hello is about to say all of it. */
  void forgetWorkers() {
    lock.lock();
    try {
      workers.clear();
    } finally {
      lock.unlock();
    }
  }

  /** Puts back events that could not be written, in front of those that came meanwhile. */
  void giveBack(List<FromAgent> unsent) {
    put(() -> {
      for (FromAgent message : unsent.reversed()) {
        if (message instanceof Happened event) {
          events.addFirst(event);
        }
        if (message instanceof UpdateStep step) {
          updates.putIfAbsent(step.version(), step);
        }
      }
      trim();
    });
  }

  /** Everything that waits, as soon as there is something; empty after {@code limitNanos}. */
  List<FromAgent> take(long limitNanos) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = limitNanos;
      while (isEmpty() && left > 0) {
        left = filled.awaitNanos(left);
      }
      List<FromAgent> all = new ArrayList<>();
      workers.values().forEach(report -> all.add(new WorkerChanged(report)));
      workers.clear();
      if (droppedAndUnsaid > 0) {
        all.add(
            new Happened(
                clock.instant(),
                Severity.WARNING,
                "events-dropped",
                "agent",
                droppedAndUnsaid + " older events were dropped while the hub was away."));
        droppedAndUnsaid = 0;
      }
      all.addAll(events);
      events.clear();
      all.addAll(updates.values());
      updates.clear();
      all.addAll(steps.values());
      steps.clear();
      if (goodbye != null) {
        all.add(goodbye);
        goodbye = null;
      }
      return all;
    } finally {
      lock.unlock();
    }
  }

  /** Events that were dropped since the agent started. */
  long dropped() {
    lock.lock();
    try {
      return dropped;
    } finally {
      lock.unlock();
    }
  }

  private boolean isEmpty() {
    return workers.isEmpty()
        && events.isEmpty()
        && updates.isEmpty()
        && steps.isEmpty()
        && goodbye == null;
  }

  private void trim() {
    while (events.size() > limits.eventsKept()) {
      events.removeFirst();
      dropped++;
      droppedAndUnsaid++;
    }
  }

  private void put(Runnable change) {
    lock.lock();
    try {
      change.run();
      filled.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
