package dev.flotilla.bench.load;

import dev.flotilla.bench.load.Connections.Lease;
import dev.flotilla.bench.measure.RequestRecord;
import dev.flotilla.bench.measure.RequestRecord.Outcome;
import dev.flotilla.wire.connection.Deadline;
import dev.flotilla.wire.connection.DeadlineLimits;
import dev.flotilla.wire.connection.Deadlines;
import dev.flotilla.wire.http.HttpReply;
import dev.flotilla.wire.http.ReplyCutShort;
import java.io.IOException;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Sends one request and reads its reply, in a straight line. Whatever happens is a record and never
 * an exception. Safe for any number of threads.
 *
 * <p>A connection that stood idle may have been closed by the server the moment before: where not
 * one byte of a reply came over such a one, the request is sent once more over a new connection,
 * and its time starts there.
 */
final class LoadClient {
  /** For the end of the connection's framing after {@code [DONE]}; longer, and it is not kept. */
  private static final Duration DRAIN = Duration.ofMillis(250);

  private static final DeadlineLimits DRAIN_LIMITS = new DeadlineLimits(DRAIN, DRAIN, DRAIN);

  private final Connections connections;
  private final Deadlines deadlines;
  private final LoadLimits limits;
  private final DeadlineLimits times;
  private final LongSupplier nanos;
  private final BooleanSupplier stopped;

  /**
   * @param nanos since the start of the run
   * @param stopped whether the run was ended, so that what breaks off now was cancelled
   */
  LoadClient(
      Connections connections,
      Deadlines deadlines,
      LoadLimits limits,
      LongSupplier nanos,
      BooleanSupplier stopped) {
    this.connections = connections;
    this.deadlines = deadlines;
    this.limits = limits;
    this.times = new DeadlineLimits(limits.firstOutput(), limits.gap(), limits.whole());
    this.nanos = nanos;
    this.stopped = stopped;
  }

  /** A request that never got its connection. */
  RequestRecord unconnected(PreparedRequest request, long scheduledNanos, IOException why) {
    long now = nanos.getAsLong();
    Outcome outcome = stopped.getAsBoolean() ? Failures.cancelled() : Failures.unconnected(why);
    return new StreamedReply(limits, nanos)
        .record(request, scheduledNanos < 0 ? now : scheduledNanos, now, outcome);
  }

  /**
   * Asks over a connection that stands, and gives it back.
   *
   * @param scheduledNanos when it was due, -1 where nothing but the answer before decided that
   */
  RequestRecord ask(Lease lease, PreparedRequest request, long scheduledNanos) {
    while (true) {
      StreamedReply reply = new StreamedReply(limits, nanos);
      long sent = nanos.getAsLong();
      long due = scheduledNanos < 0 ? sent : scheduledNanos;
      try {
        return reply.record(request, due, sent, exchange(lease, request, reply));
      } catch (IOException e) {
        connections.end(lease.http());
        if (stopped.getAsBoolean()) {
          return reply.record(request, due, sent, Failures.cancelled());
        }
        boolean stale = lease.used() && e instanceof ReplyCutShort cut && cut.beforeFirstByte();
        if (!stale) {
          return reply.record(request, due, sent, Failures.broken(e, limits));
        }
      }
      try {
        lease = connections.dial();
      } catch (IOException e) {
        return unconnected(request, scheduledNanos, e);
      }
    }
  }

  /** One exchange; the connection is given back, or ended where its state is in doubt. */
  private Outcome exchange(Lease lease, PreparedRequest request, StreamedReply reply)
      throws IOException {
    Deadline deadline = deadlines.watch(lease.http().connection(), times);
    HttpReply http;
    Outcome outcome;
    try {
      deadline.awaitFirstByte();
      http = lease.http().exchange(request.call());
      outcome = reply.read(http, deadline);
    } catch (IOException e) {
      throw deadline.explain(e);
    } finally {
      deadline.close();
    }
    // A limit that fires in the last moment closes the connection some time later: asked only after
    // the watch has ended, it can't be in another request's hands by then.
    boolean kept = deadline.exceeded().isEmpty() && drained(lease, http);
    connections.giveBack(lease, kept);
    return outcome;
  }

  /** Reads the little that frames the end of a stream; false where it does not come at once. */
  private boolean drained(Lease lease, HttpReply reply) {
    if (reply.reusable()) {
      return true;
    }
    byte[] rest = new byte[64];
    Deadline deadline = deadlines.watch(lease.http().connection(), DRAIN_LIMITS);
    boolean ended;
    try {
      deadline.awaitFirstByte();
      ended = reply.body().read(rest) < 0;
    } catch (IOException _) {
      ended = false;
    } finally {
      deadline.close();
    }
    return ended && reply.reusable() && deadline.exceeded().isEmpty();
  }
}
