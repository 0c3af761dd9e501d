package dev.flotilla.hub.lanes;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.openai.ApiErrors;
import dev.flotilla.wire.text.Names;
import io.helidon.common.buffers.BufferData;
import io.helidon.common.concurrency.limits.Limit;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HttpPrologue;
import io.helidon.http.Method;
import io.helidon.http.WritableHeaders;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http1.spi.Http1Upgrader;
import io.helidon.webserver.spi.ServerConnection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The two upgrades by which agents' connections become lanes. Register {@link #upgraders()} with
 * the server's {@code Http1ConnectionSelector}, and {@link EnrolService} with its routing.
 *
 * <p>Name, generation and credential are checked before the 101; what is wrong with them is
 * answered with a status and an error body, and the connection is closed. Since lanes are exempt
 * from the server's idle time, a thread of this class looks after them every second from {@link
 * #start} to {@link #close}: it cuts silent control lanes and closes idle work lanes.
 */
public final class LaneUpgrades implements AutoCloseable {
  private static final HeaderName NODE = HeaderNames.create("x-flotilla-node");
  private static final HeaderName GENERATION = HeaderNames.create("x-flotilla-generation");
  private static final String BEARER = "bearer ";
  private static final int CREDENTIAL_CHARS_MAX = 512;
  private static final Duration SWEEP = Duration.ofSeconds(1);

  /** Who dialled, as its credential proves. */
  private record Caller(String node, long generation, String agentId) {}

  /** Makes a lane of a caller's connection; null after it answered with an error itself. */
  private interface LaneOpener {
    @Nullable ServerConnection open(ConnectionContext context, Caller caller);
  }

  private final NodeCredentials credentials;
  private final AgentDesk desk;
  private final WorkLanes lanes;
  private final LongSupplier nanoTime;
  private final Set<ControlSession> sessions = ConcurrentHashMap.newKeySet();
  private final Thread sweeper;

  /**
   * Upgrades that report to {@code desk}.
   *
   * @param nanoTime a clock that never jumps, such as {@code System::nanoTime}
   */
  public LaneUpgrades(
      NodeCredentials credentials, AgentDesk desk, WorkLanes lanes, LongSupplier nanoTime) {
    this.credentials = credentials;
    this.desk = desk;
    this.lanes = lanes;
    this.nanoTime = nanoTime;
    this.sweeper = Thread.ofVirtual().name("lane-sweeper").unstarted(this::sweepUntilClosed);
  }

  /** Starts looking after idle and silent lanes. */
  public void start() {
    sweeper.start();
  }

  /**
   * {@code flotilla-control} at {@code /lanes/control}, {@code flotilla-work} at {@code
   * /lanes/work}.
   */
  public List<Http1Upgrader> upgraders() {
    return List.of(
        new LaneUpgrader("flotilla-control", "/lanes/control", this::control),
        new LaneUpgrader("flotilla-work", "/lanes/work", this::work));
  }

  /** Cuts every lane. */
  @Override
  public void close() {
    sweeper.interrupt();
    sessions.forEach(session -> session.cut("the hub stops"));
    lanes.close();
  }

  private ServerConnection control(ConnectionContext context, Caller caller) {
    switchProtocols(context, "flotilla-control");
    ControlSession session =
        new ControlSession(
            context, caller.node(), caller.generation(), caller.agentId(), desk, lanes, nanoTime);
    return new Registered(session);
  }

  private @Nullable ServerConnection work(ConnectionContext context, Caller caller) {
    WorkLanePool pool = lanes.pool(caller.node());
    String refusal = pool.refusal(caller.generation());
    if (!refusal.isEmpty()) {
      answer(
          context, new ApiError(409, "invalid_request_error", "lane_refused", refusal, null, null));
      return null;
    }
    switchProtocols(context, "flotilla-work");
    return new WorkLane(context, pool, caller.generation());
  }

  private void sweepUntilClosed() {
    try {
      while (true) {
        Thread.sleep(SWEEP);
        sessions.forEach(ControlSession::sweep);
        lanes.sweep();
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private static void switchProtocols(ConnectionContext context, String protocol) {
    String head =
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "
            + protocol
            + "\r\n\r\n";
    context.dataWriter().writeNow(BufferData.create(head.getBytes(US_ASCII)));
  }

  private static void answer(ConnectionContext context, ApiError error) {
    byte[] body = ApiErrors.body(error);
    String head =
        "HTTP/1.1 "
            + error.status()
            + (error.status() == 401
                ? " Unauthorized"
                : error.status() == 409 ? " Conflict" : " Bad Request")
            + "\r\nContent-Type: application/json\r\nContent-Length: "
            + body.length
            + "\r\nConnection: close\r\n\r\n";
    context
        .dataWriter()
        .writeNow(BufferData.create(head.getBytes(US_ASCII)), BufferData.create(body));
  }

  private final class LaneUpgrader implements Http1Upgrader {
    private final String protocol;
    private final String path;
    private final LaneOpener opener;

    LaneUpgrader(String protocol, String path, LaneOpener opener) {
      this.protocol = protocol;
      this.path = path;
      this.opener = opener;
    }

    @Override
    public String supportedProtocol() {
      return protocol;
    }

    /** Null where the request is none for a lane: the server's routing answers it. */
    @Override
    @SuppressWarnings(
        "NullAway") // The server's interface is not annotated; null is its word for "not mine".
    public ServerConnection upgrade(
        ConnectionContext context, HttpPrologue prologue, WritableHeaders<?> headers) {
      if (!prologue.method().equals(Method.GET) || !prologue.uriPath().path().equals(path)) {
        return null;
      }
      Optional<Caller> caller = identify(context, headers);
      ServerConnection lane = caller.isEmpty() ? null : opener.open(context, caller.get());
      return lane == null ? new Over() : lane;
    }

    private Optional<Caller> identify(ConnectionContext context, WritableHeaders<?> headers) {
      String node = headers.first(NODE).orElse("");
      String generation = headers.first(GENERATION).orElse("");
      Optional<String> problem = Names.nodeProblem(node);
      if (problem.isPresent()) {
        answer(context, ApiError.badRequest("bad_node", "x-flotilla-node: " + problem.get(), null));
        return Optional.empty();
      }
      if (!generation.matches("[0-9]{1,18}")) {
        answer(
            context,
            ApiError.badRequest(
                "bad_generation", "x-flotilla-generation is a number of at most 18 digits.", null));
        return Optional.empty();
      }
      Optional<String> agentId =
          bearer(headers).flatMap(credential -> credentials.verify(node, credential));
      if (agentId.isEmpty()) {
        answer(
            context,
            new ApiError(
                401,
                "authentication_error",
                "bad_credential",
                "The credential is not that of node "
                    + node
                    + ": it was enrolled at another hub, or forgotten here. Make a token on the hub's"
                    + " machine with 'flotilla tokens create' and start the agent with --token.",
                null,
                null));
      }
      return agentId.map(id -> new Caller(node, Long.parseLong(generation), id));
    }

    private static Optional<String> bearer(WritableHeaders<?> headers) {
      return headers
          .first(HeaderNames.AUTHORIZATION)
          .filter(value -> value.length() <= CREDENTIAL_CHARS_MAX)
          .filter(value -> value.regionMatches(true, 0, BEARER, 0, BEARER.length()))
          .map(value -> value.substring(BEARER.length()).strip());
    }
  }

  /** A control lane that is known to the sweeper as long as it runs. */
  private final class Registered implements ServerConnection {
    private final ControlSession session;

    Registered(ControlSession session) {
      this.session = session;
    }

    @Override
    public void handle(Limit limit) {
      sessions.add(session);
      try {
        session.handle(limit);
      } finally {
        sessions.remove(session);
      }
    }

    @Override
    public Duration idleTime() {
      return session.idleTime();
    }

    @Override
    public void close(boolean interrupt) {
      session.close(interrupt);
    }
  }

  /** A connection that was answered with an error: nothing follows, the server closes it. */
  private static final class Over implements ServerConnection {
    @Override
    public void handle(Limit limit) {}

    @Override
    public Duration idleTime() {
      return Duration.ZERO;
    }

    @Override
    public void close(boolean interrupt) {}
  }
}
