package dev.flotilla.wire.connection;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Time limits of exchanges, for connections that know none themselves: a lane has no socket
 * timeout.
 *
 * <p>An exchange registers with {@link #watch}, says through its {@link Deadline} what it waits
 * for, and closes it at its end. One daemon thread looks at every registered exchange each {@link
 * #SWEEP_EVERY} and closes the connection of one that is overdue; the read that waited there ends
 * with an IOException, which {@link Deadline#explain} turns into the limit that fired. So a limit
 * is exact to about one sweep, and an exchange pays one clock reading and one volatile write per
 * chunk.
 *
 * <p>Invariants: an exchange ends once, either closed by its owner or fired by the sweep; a
 * connection is never closed by the sweep after its {@link Deadline} was closed, so it can safely
 * go back to a pool. Closing happens on a thread of its own, since closing a TLS connection may
 * block.
 *
 * <p>The table holds one entry per exchange in flight and is bounded by whatever bounds those.
 */
public final class Deadlines implements AutoCloseable {
  public static final Duration SWEEP_EVERY = Duration.ofMillis(50);

  private final LongSupplier nanoClock;
  private final long origin;
  private final Set<Deadline> watched = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /** Deadlines that nobody sweeps yet: call {@link #start()}, or {@link #sweep()} by hand. */
  public Deadlines(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
    this.origin = nanoClock.getAsLong();
  }

  /** Starts the sweeping thread; it ends with {@link #close()}. */
  public Deadlines start() {
    Thread.ofPlatform().daemon().name("deadlines").start(this::sweepUntilClosed);
    return this;
  }

  /** Registers an exchange. Of its limits only the whole one runs until it says what it awaits. */
  public Deadline watch(Connection connection, DeadlineLimits limits) {
    Deadline deadline = new Deadline(this, connection, limits);
    watched.add(deadline);
    return deadline;
  }

  /** Closes the connection of every exchange that is overdue now; says how many there were. */
  public int sweep() {
    List<Deadline> overdue = new ArrayList<>(0);
    for (Deadline deadline : watched) {
      if (deadline.fireIfOverdue(nanos())) {
        overdue.add(deadline);
      }
    }
    for (Deadline deadline : overdue) {
      watched.remove(deadline);
      Thread.ofVirtual().name("deadline-close").start(deadline::closeConnection);
    }
    return overdue.size();
  }

  /** Exchanges that are registered and not yet ended. */
  public int watched() {
    return watched.size();
  }

  /** Nanoseconds since this was made; never negative, so {@code Long.MAX_VALUE} means never. */
  long nanos() {
    return nanoClock.getAsLong() - origin;
  }

  void forget(Deadline deadline) {
    watched.remove(deadline);
  }

  private void sweepUntilClosed() {
    while (!closed) {
      try {
        Thread.sleep(SWEEP_EVERY);
      } catch (InterruptedException _) {
        return;
      }
      sweep();
    }
  }

  /** Ends the sweeping thread; exchanges in flight run on without limits. */
  @Override
  public void close() {
    closed = true;
  }
}
