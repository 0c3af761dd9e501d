package dev.flotilla.hub.lanes;

import dev.flotilla.hub.fleet.Fleet;
import dev.flotilla.hub.fleet.FleetLimits;
import dev.flotilla.hub.fleet.ProofVerdict;
import dev.flotilla.hub.gateway.Authenticator;
import dev.flotilla.hub.gateway.Gateway;
import dev.flotilla.hub.gateway.GatewayLimits;
import dev.flotilla.hub.gateway.HubListener;
import dev.flotilla.hub.gateway.Metrics;
import dev.flotilla.hub.gateway.Recorder;
import dev.flotilla.hub.gateway.SocketDialer;
import dev.flotilla.hub.routing.Dispatcher;
import dev.flotilla.hub.routing.Ledger;
import dev.flotilla.hub.routing.QueueLimits;
import dev.flotilla.hub.routing.Speeds;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.hub.store.FleetMemory;
import dev.flotilla.hub.store.Journal;
import dev.flotilla.hub.store.Usage;
import dev.flotilla.server.http.HttpServer;
import dev.flotilla.server.http.HttpServer.Place;
import dev.flotilla.server.http.ServerLimits;
import dev.flotilla.wire.connection.Deadlines;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import io.helidon.webserver.http.HttpService;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The hub's server with lanes, a fleet and a gateway, on a free loopback port. */
final class LaneHub implements Journal, FleetMemory, NodeCredentials, AutoCloseable {
  static final String TOKEN = "token-of-the-hub";
  private static final Duration STOP = Duration.ofMillis(500);
  private static final Duration LAST_WORDS = Duration.ofSeconds(20);
  private static final Duration GIVE_UP = Duration.ofSeconds(30);

  final List<String> events = new CopyOnWriteArrayList<>();
  final Map<String, RememberedNode> remembered = new ConcurrentHashMap<>();
  final Map<String, String> agentIds = new ConcurrentHashMap<>();

  /** A client's request that is answered when this is counted down: {@code GET /held}. */
  final CountDownLatch hold = new CountDownLatch(1);

  final CountDownLatch held = new CountDownLatch(1);
  final WorkLanes lanes;
  final Fleet fleet;
  final LaneUpgrades upgrades;
  final Dispatcher dispatcher;
  private final Speeds speeds = new Speeds();
  private final Deadlines deadlines = new Deadlines(System::nanoTime).start();
  private final HttpServer server;

  LaneHub() {
    this(LaneLimits.DEFAULT, FleetLimits.DEFAULT);
  }

  LaneHub(LaneLimits laneLimits, FleetLimits fleetLimits) {
    this(laneLimits, fleetLimits, STOP);
  }

  /**
   * @param stop how long requests in flight may run on when its server stops
   */
  LaneHub(LaneLimits laneLimits, FleetLimits fleetLimits, Duration stop) {
    lanes = new WorkLanes(laneLimits, System::nanoTime);
    fleet =
        new Fleet(
            "hub",
            lanes,
            this,
            this,
            backend ->
                new SocketDialer(
                    backend.url(),
                    Optional.empty(),
                    SocketDialer.Limits.DEFAULTS,
                    System::nanoTime),
            _ -> Optional.empty(),
            _ -> 0,
            fleetLimits,
            InstantSource.system(),
            System::nanoTime);
    fleet.onChange(() ->
        fleet
            .proofCandidates()
            .forEach(each -> fleet.proved(each, new ProofVerdict.Passed(0, ""))));
    dispatcher =
        new Dispatcher(
            fleet,
            new Ledger(),
            speeds,
            () -> QueueLimits.of(FleetSpec.Limits.DEFAULT),
            System::nanoTime);
    upgrades = new LaneUpgrades(this, fleet, lanes, System::nanoTime);
    ServerLimits limits = HubListener.LIMITS.withStop(stop, LAST_WORDS);
    HttpService holding =
        rules ->
            rules.get(
                "/held",
                (_, response) -> {
                  held.countDown();
                  var _ = hold.await(GIVE_UP.toSeconds(), TimeUnit.SECONDS);
                  response.send();
                });
    try {
      server =
          HubListener.of(
                  Place.loopback(),
                  limits,
                  limits::bodyBytesMax,
                  List.of(
                      new EnrolService(this, laneLimits, System::nanoTime),
                      holding,
                      gateway(limits)),
                  upgrades.upgraders())
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    upgrades.start();
    fleet.start();
  }

  private Gateway gateway(ServerLimits limits) {
    return new Gateway(
        fleet,
        dispatcher,
        Authenticator.open(),
        new Recorder(speeds, this, new Metrics(), InstantSource.system(), System::nanoTime),
        deadlines,
        GatewayLimits.DEFAULTS,
        limits,
        limits::bodyBytesMax,
        System::nanoTime);
  }

  int port() {
    return server.port();
  }

  LaneHub serves(FleetSpec.Model... models) {
    fleet.apply(
        new FleetSpec(List.of(models), List.of(), List.of(), FleetSpec.Limits.DEFAULT),
        1,
        Instant.EPOCH);
    return this;
  }

  /** A server without an agent, of as many slots as a worker, under a public name. */
  LaneHub servesBackend(String name, String url) {
    fleet.apply(
        new FleetSpec(
            List.of(),
            List.of(new FleetSpec.Backend("b", URI.create(url), "own", 4, Optional.empty())),
            List.of(
                new FleetSpec.Route(
                    "r", List.of(name), List.of(new FleetSpec.Destination.ToBackend("b")))),
            FleetSpec.Limits.DEFAULT),
        1,
        Instant.EPOCH);
    return this;
  }

  /** What the gateway would send a request for the model to. */
  Target target(String model) {
    var name = fleet.current().names().get(model);
    if (name == null || name.targets().isEmpty()) {
      throw new AssertionError("nobody serves " + model + ": " + name);
    }
    return name.targets().getFirst();
  }

  void stopServer() {
    server.close();
  }

  @Override
  public void close() {
    fleet.close();
    upgrades.close();
    server.close();
    deadlines.close();
  }

  @Override
  public void usage(Usage usage) {}

  @Override
  public void event(Severity severity, String kind, String subject, String message) {
    events.add(kind + " " + subject + ": " + message);
  }

  @Override
  public List<RememberedNode> nodes() {
    return List.copyOf(remembered.values());
  }

  @Override
  public void save(RememberedNode node) {
    remembered.put(node.name(), node);
  }

  static String credential(String node) {
    return "credential-of-" + node;
  }

  @Override
  public Optional<String> verify(String node, String credential) {
    return credential.equals(credential(node))
        ? Optional.of(agentIds.getOrDefault(node, "id-of-" + node))
        : Optional.empty();
  }

  @Override
  public Enrolment enrol(String token, String node, String agentId) {
    if (!token.equals(TOKEN)) {
      return new Enrolment.BadToken("The token is none of this hub's.");
    }
    String holder = agentIds.putIfAbsent(node, agentId);
    return holder == null || holder.equals(agentId)
        ? new Enrolment.Enrolled(credential(node))
        : new Enrolment.NameTaken();
  }
}
