package dev.flotilla.hub.gateway;

import dev.flotilla.hub.routing.Dialer;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.server.http.ClientConnection;
import dev.flotilla.wire.connection.Connection;
import dev.flotilla.wire.connection.Deadline;
import dev.flotilla.wire.connection.DeadlineLimits;
import dev.flotilla.wire.connection.Deadlines;
import dev.flotilla.wire.http.Http1;
import dev.flotilla.wire.http.HttpCall;
import dev.flotilla.wire.http.HttpReply;
import dev.flotilla.wire.http.ReplyCutShort;
import java.io.IOException;
import java.time.Duration;

/**
 * Sends a request to a target over one of its connections.
 *
 * <p>A pooled connection may have been closed by the other side while it lay idle. A request that
 * fails on one before the first byte of a reply is sent once more on a fresh connection to the same
 * target; that is no attempt of its own and no fault.
 *
 * <p>A client that goes away closes the connection, whatever the exchange waits for: closing it is
 * what makes an engine stop. So does a hub that stops, when the time for what runs is over.
 */
final class Upstream {
  private final Deadlines deadlines;
  private final Duration connect;

  Upstream(Deadlines deadlines, Duration connect) {
    this.deadlines = deadlines;
    this.connect = connect;
  }

  /**
   * Sends the request and waits for the head of the reply.
   *
   * @throws AttemptFailed where none came
   * @throws ClientGone where the client went away meanwhile
   */
  Call send(Target target, HttpCall call, DeadlineLimits times, ClientConnection client)
      throws AttemptFailed, ClientGone {
    boolean fresh = false;
    while (true) {
      Dialer.Lease lease = dial(target, fresh);
      Connection connection = lease.connection();
      client.onCut(connection::close);
      Deadline deadline = deadlines.watch(connection, times);
      try {
        deadline.awaitFirstByte();
        Http1 http = lease.http1(target.host());
        return new Call(lease, deadline, http.exchange(call), client);
      } catch (IOException seen) {
        deadline.close();
        connection.close();
        if (client.isGone()) {
          throw new ClientGone();
        }
        IOException failure = deadline.explain(seen);
        boolean idleDeath =
            failure instanceof ReplyCutShort cut && cut.beforeFirstByte() && lease.reused();
        if (!idleDeath || fresh) {
          throw AttemptFailed.of(failure);
        }
        fresh = true;
      }
    }
  }

  private Dialer.Lease dial(Target target, boolean fresh) throws AttemptFailed {
    try {
      return target.dialer().dial(fresh, connect);
    } catch (IOException unreachable) {
      throw AttemptFailed.unreached("can't be reached: " + words(unreachable));
    }
  }

  static String words(IOException failure) {
    String message = failure.getMessage();
    return message == null || message.isEmpty() ? failure.getClass().getSimpleName() : message;
  }

  /**
   * Reads a reply's last bytes, for which nobody waits any more, within their own time: it runs
   * until the call is kept or closed.
   */
  void finish(Call call, DeadlineLimits times, Runnable reading) {
    call.deadline.close();
    call.deadline = deadlines.watch(call.connection(), times);
    reading.run();
  }

  /** A reply that has begun. Closing it closes the connection, unless it was kept before. */
  static final class Call implements AutoCloseable {
    private final Dialer.Lease lease;
    private final HttpReply reply;
    private final ClientConnection client;
    private Deadline deadline;
    private boolean kept;

    Call(Dialer.Lease lease, Deadline deadline, HttpReply reply, ClientConnection client) {
      this.lease = lease;
      this.deadline = deadline;
      this.reply = reply;
      this.client = client;
    }

    HttpReply reply() {
      return reply;
    }

    Deadline deadline() {
      return deadline;
    }

    Connection connection() {
      return lease.connection();
    }

    /** What a failed read means. */
    AttemptFailed failed(IOException seen) throws ClientGone {
      if (client.isGone()) {
        throw new ClientGone();
      }
      return AttemptFailed.of(deadline.explain(seen));
    }

    /** Gives the connection back, if the reply ended so that it can carry another. */
    void keep() {
      deadline.close();
      client.onCut(Call::nothing);
      if (reply.reusable()
          && deadline.exceeded().isEmpty()
          && !client.isGone()
          && !client.timeIsOver()) {
        kept = true;
        lease.keep();
      }
    }

    private static void nothing() {}

    @Override
    public void close() {
      deadline.close();
      client.onCut(Call::nothing);
      if (!kept) {
        lease.connection().close();
      }
    }
  }
}
