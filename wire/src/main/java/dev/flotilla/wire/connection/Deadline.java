package dev.flotilla.wire.connection;

import dev.flotilla.wire.connection.DeadlineExceeded.Limit;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Optional;

/**
 * The time limits of one exchange, as {@link Deadlines} watches them.
 *
 * <p>One thread drives the exchange: {@link #awaitFirstByte()}, then {@link #awaitChunk()} before
 * each read and {@link #pause()} after it, so that time spent on a slow client is not counted
 * against the engine. Close it before the connection goes back to a pool, and then ask {@link
 * #exceeded()}: where it is set, the connection is closed or about to be.
 */
public final class Deadline implements AutoCloseable {
  private static final long NEVER = Long.MAX_VALUE;
  private static final VarHandle OUTCOME;

  static {
    try {
      OUTCOME = MethodHandles.lookup().findVarHandle(Deadline.class, "outcome", Object.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static final Object RUNNING = new Object();
  private static final Object ENDED = new Object();

  private final Deadlines deadlines;
  private final Connection connection;
  private final DeadlineLimits limits;
  private final long gapNanos;
  private final long wholeDue;
  private volatile long firstByteDue = NEVER;
  private volatile long gapDue = NEVER;

  /** RUNNING, ENDED, or the {@link Limit} that fired; leaves RUNNING once. */
  @SuppressWarnings("UnusedVariable") // read and written through OUTCOME
  private volatile Object outcome = RUNNING;

  Deadline(Deadlines deadlines, Connection connection, DeadlineLimits limits) {
    this.deadlines = deadlines;
    this.connection = connection;
    this.limits = limits;
    this.gapNanos = nanos(limits.gap());
    this.wholeDue = after(nanos(limits.whole()));
  }

  /** The request is sent: from now on the limit for the first byte runs. */
  public void awaitFirstByte() {
    gapDue = NEVER;
    firstByteDue = after(nanos(limits.firstByte()));
  }

  /**
   * The next chunk is awaited: from now on the limit for a gap runs, and the first byte's no more.
   */
  public void awaitChunk() {
    gapDue = after(gapNanos);
    if (firstByteDue != NEVER) {
      firstByteDue = NEVER;
    }
  }

  /** Nothing is awaited from the engine for now: only the limit for the whole runs. */
  public void pause() {
    gapDue = NEVER;
    if (firstByteDue != NEVER) {
      firstByteDue = NEVER;
    }
  }

  /** Which limit fired, if one did. */
  public Optional<Limit> exceeded() {
    return OUTCOME.getVolatile(this) instanceof Limit limit ? Optional.of(limit) : Optional.empty();
  }

  /** The limit that fired, with what the reader saw of it as the cause; else what it saw. */
  public IOException explain(IOException seen) {
    return exceeded()
        .<IOException>map(limit -> new DeadlineExceeded(limit, allowed(limit), seen))
        .orElse(seen);
  }

  /** Ends the watch; nothing fires after this returns. */
  @Override
  public void close() {
    OUTCOME.compareAndSet(this, RUNNING, ENDED);
    deadlines.forget(this);
  }

  boolean fireIfOverdue(long now) {
    Limit limit =
        now >= firstByteDue
            ? Limit.FIRST_BYTE
            : now >= gapDue ? Limit.GAP : now >= wholeDue ? Limit.WHOLE : null;
    return limit != null && OUTCOME.compareAndSet(this, RUNNING, limit);
  }

  void closeConnection() {
    connection.close();
  }

  private Duration allowed(Limit limit) {
    return switch (limit) {
      case FIRST_BYTE -> limits.firstByte();
      case GAP -> limits.gap();
      case WHOLE -> limits.whole();
    };
  }

  private long after(long nanos) {
    long due = deadlines.nanos() + nanos;
    return due < 0 ? NEVER : due;
  }

  private static long nanos(Duration time) {
    return time.compareTo(Duration.ofDays(100_000)) > 0 ? NEVER : time.toNanos();
  }
}
