package dev.flotilla.hub.gateway;

import dev.flotilla.hub.routing.Dispatcher;
import dev.flotilla.hub.routing.Ledger;
import dev.flotilla.hub.routing.QueueLimits;
import dev.flotilla.hub.routing.Speeds;
import dev.flotilla.hub.routing.StaticFleet;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.hub.routing.Target.Capability;
import dev.flotilla.hub.routing.Target.Kind;
import dev.flotilla.hub.store.Journal;
import dev.flotilla.hub.store.Usage;
import dev.flotilla.server.http.HttpServer;
import dev.flotilla.server.http.HttpServer.Place;
import dev.flotilla.server.http.ServerLimits;
import dev.flotilla.shape.dialect.Promise;
import dev.flotilla.testkit.client.TestClient;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import dev.flotilla.wire.connection.Deadlines;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** A hub with its real listener, over scripted engines that it reaches by sockets. */
final class TestHub implements AutoCloseable {
  static final String MODEL = "public-name";

  /** What a test may want otherwise than the defaults. */
  static final class Setup {
    ServerLimits server = HubListener.LIMITS;
    GatewayLimits gateway = GatewayLimits.DEFAULTS;
    QueueLimits queue = new QueueLimits(8, 4, Duration.ofSeconds(30));
    Authenticator keys = Authenticator.open();
    long requestBodyBytes = 1 << 20;
    int slots = 4;
    int contextTokens = 4096;
    int longestTokenBytes = 16;
    String engine = "llama-server";
    Capability capability = Capability.TEXT;
    @Nullable Promise promise = new Promise(Reasoning.REASONING_CONTENT, true);
    LongSupplier routingNanos = System::nanoTime;

    /** Whatever is set aside stays so, however long a busy machine takes for the next request. */
    static Setup whereNoPauseEnds() {
      Setup setup = new Setup();
      long now = System.nanoTime();
      setup.routingNanos = () -> now;
      return setup;
    }
  }

  final StaticFleet fleet = new StaticFleet();
  final List<Usage> usages = new CopyOnWriteArrayList<>();
  final List<String> events = new CopyOnWriteArrayList<>();
  final Ledger ledger = new Ledger();
  final Dispatcher dispatcher;
  private final Setup setup;
  private final Deadlines deadlines = new Deadlines(System::nanoTime).start();
  private final HttpServer server;
  private final List<SocketDialer> dialers = new CopyOnWriteArrayList<>();

  private TestHub(Setup setup) {
    this.setup = setup;
    Speeds speeds = new Speeds();
    this.dispatcher = new Dispatcher(fleet, ledger, speeds, () -> setup.queue, setup.routingNanos);
    Journal journal =
        new Journal() {
          @Override
          public void usage(Usage usage) {
            usages.add(usage);
          }

          @Override
          public void event(Severity severity, String kind, String subject, String message) {
            events.add(kind + " " + subject + " " + message);
          }
        };
    Metrics metrics = new Metrics();
    Recorder recorder =
        new Recorder(speeds, journal, metrics, InstantSource.system(), System::nanoTime);
    Gateway gateway =
        new Gateway(
            fleet,
            dispatcher,
            setup.keys,
            recorder,
            deadlines,
            setup.gateway,
            setup.server,
            () -> setup.requestBodyBytes,
            System::nanoTime);
    try {
      this.server =
          HubListener.of(
                  Place.loopback(),
                  setup.server,
                  setup.server::bodyBytesMax,
                  List.of(
                      gateway,
                      new ModelList(fleet, setup.keys, setup.gateway),
                      new Health(fleet, dispatcher, metrics, List::of)),
                  List.of())
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static TestHub over(ScriptedEngine... engines) {
    return over(new Setup(), engines);
  }

  static TestHub over(Setup setup, ScriptedEngine... engines) {
    TestHub hub = new TestHub(setup);
    hub.serve(engines);
    return hub;
  }

  /** The engines are workers a, b, c … of the model from now on. */
  void serve(ScriptedEngine... engines) {
    Target[] targets = new Target[engines.length];
    for (int i = 0; i < engines.length; i++) {
      targets[i] = target(Character.toString('a' + i), engines[i]);
    }
    fleet.serve(MODEL, targets);
  }

  /** An engine of another kind serves the model beside those that do. */
  void serveAs(String kind, String name, ScriptedEngine engine) {
    List<Target> targets =
        new ArrayList<>(Objects.requireNonNull(fleet.current().names().get(MODEL)).targets());
    targets.add(target(name, 1, kind, engine));
    fleet.serve(MODEL, targets.toArray(Target[]::new));
  }

  Target target(String name, ScriptedEngine engine) {
    return target(name, 1, engine);
  }

  /** A later launch of worker a. */
  Target launch(long generation, ScriptedEngine engine) {
    return target("a", generation, engine);
  }

  private Target target(String name, long generation, ScriptedEngine engine) {
    return target(name, generation, setup.engine, engine);
  }

  private Target target(String name, long generation, String kind, ScriptedEngine engine) {
    URI url = URI.create(engine.url());
    SocketDialer dialer =
        new SocketDialer(url, Optional.empty(), SocketDialer.Limits.DEFAULTS, System::nanoTime);
    dialers.add(dialer);
    return new Target(
        name,
        Kind.WORKER,
        MODEL,
        "own-name",
        kind,
        "node",
        generation,
        setup.contextTokens,
        setup.longestTokenBytes,
        setup.slots,
        true,
        setup.capability,
        setup.promise,
        "engine-key",
        dialer.hostHeader(),
        "",
        dialer);
  }

  int port() {
    return server.port();
  }

  /** Connections of clients that are open. */
  int connections() {
    return server.connections();
  }

  TestClient client() {
    return TestClient.connect(server.port());
  }

  /** A chat's body; what follows the messages is added as it is. */
  static String chat(String content, String more) {
    return "{\"model\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]%s}"
        .formatted(MODEL, content, more);
  }

  TestClient.Reply chat(String content) {
    try (TestClient client = client()) {
      return client.post("/v1/chat/completions", chat(content, "")).reply();
    }
  }

  TestClient.Reply stream(String content) {
    try (TestClient client = client()) {
      return client.post("/v1/chat/completions", chat(content, ",\"stream\":true")).reply();
    }
  }

  /** The page of metrics as it is now. */
  String metrics() {
    try (TestClient client = client()) {
      return client.get("/metrics").reply().body();
    }
  }

  /** The usage of the only request, or of the last. */
  Usage usage(int count) {
    org.awaitility.Awaitility.await().until(() -> usages.size() >= count);
    return usages.get(count - 1);
  }

  @Override
  public void close() {
    server.close();
    deadlines.close();
    dialers.forEach(SocketDialer::close);
    dispatcher.checkInvariants();
  }
}
