package dev.flotilla.hub.lanes;

import dev.flotilla.hub.fleet.Fleet;
import dev.flotilla.hub.fleet.FleetLimits;
import dev.flotilla.hub.fleet.ProofVerdict;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.hub.store.FleetMemory;
import dev.flotilla.hub.store.Journal;
import dev.flotilla.hub.store.Usage;
import dev.flotilla.wire.ControlMessage.Severity;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.helidon.webserver.http1.spi.Http1Upgrader;
import java.io.IOException;
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

/** A real server with lanes and a fleet, on a free loopback port. */
final class LaneHub implements Journal, FleetMemory, NodeCredentials, AutoCloseable {
  static final String TOKEN = "token-of-the-hub";
  private static final Duration STOP = Duration.ofMillis(500);
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
  private final WebServer server;

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
            _ ->
                (_, _) -> {
                  throw new IOException("no backend in this test");
                },
            _ -> Optional.empty(),
            _ -> 0,
            fleetLimits,
            InstantSource.system(),
            System::nanoTime);
    fleet.onChange(() ->
        fleet
            .proofCandidates()
            .forEach(each -> fleet.proved(each, new ProofVerdict.Passed(0, ""))));
    upgrades = new LaneUpgrades(this, fleet, lanes, System::nanoTime);
    var selector = Http1ConnectionSelector.builder().config(Http1Config.create());
    for (Http1Upgrader upgrader : upgrades.upgraders()) {
      selector.addUpgrader(upgrader);
    }
    server =
        WebServer.builder()
            .host("127.0.0.1")
            .port(0)
            .protocolsDiscoverServices(false)
            .addConnectionSelector(selector.build())
            .shutdownHook(false)
            .shutdownGracePeriod(stop)
            .routing(routing ->
                routing
                    .register("/", new EnrolService(this, laneLimits, System::nanoTime))
                    .get(
                        "/held",
                        (_, response) -> {
                          held.countDown();
                          var _ = hold.await(GIVE_UP.toSeconds(), TimeUnit.SECONDS);
                          response.send();
                        }))
            .build()
            .start();
    upgrades.start();
    fleet.start();
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

  /** What the gateway would send a request for the model to. */
  Target target(String model) {
    var name = fleet.current().names().get(model);
    if (name == null || name.targets().isEmpty()) {
      throw new AssertionError("nobody serves " + model + ": " + name);
    }
    return name.targets().getFirst();
  }

  void stopServer() {
    server.stop();
  }

  @Override
  public void close() {
    fleet.close();
    upgrades.close();
    server.stop();
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
