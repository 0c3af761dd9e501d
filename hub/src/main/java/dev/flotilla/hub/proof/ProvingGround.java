package dev.flotilla.hub.proof;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.flotilla.hub.gateway.Authenticator;
import dev.flotilla.hub.gateway.ClientKey;
import dev.flotilla.hub.gateway.Gateway;
import dev.flotilla.hub.gateway.GatewayLimits;
import dev.flotilla.hub.gateway.HubListener;
import dev.flotilla.hub.gateway.Metrics;
import dev.flotilla.hub.gateway.Recorder;
import dev.flotilla.hub.routing.Dispatcher;
import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.hub.routing.FleetSource;
import dev.flotilla.hub.routing.Ledger;
import dev.flotilla.hub.routing.QueueLimits;
import dev.flotilla.hub.routing.Speeds;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.hub.store.Journal;
import dev.flotilla.hub.store.Usage;
import dev.flotilla.server.http.HttpServer;
import dev.flotilla.server.http.HttpServer.Place;
import dev.flotilla.server.http.ListenFailed;
import dev.flotilla.wire.connection.Deadlines;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import java.net.URI;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Where a worker is asked as clients ask, before any client can: a second gateway of the same code,
 * on a port of loopback, whose names lead to one worker each.
 *
 * <p><b>What is the same.</b> Everything between a client's socket and the engine's: the reading of
 * the request, its translation for the engine, the lanes, the shaping of the reply. What is shown
 * here of a worker holds for clients, too.
 *
 * <p><b>What is apart.</b> The fleet that is seen (a name is known from {@link #enter} to its
 * close), the ledger and the queues, and the records: what a proof asks is in no usage log, no
 * metric, and no learned speed. It asks for a key that is made at the start and known in this
 * process alone.
 *
 * <p>Concurrency: any thread; entries are added and removed at any time.
 */
public final class ProvingGround implements FleetSource, AutoCloseable {
  private static final int KEY_BYTES = 32;

  private final FleetSource fleet;
  private final Map<String, Target> stands = new ConcurrentHashMap<>();
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private final AtomicLong entered = new AtomicLong();
  private final String key;
  private final Deadlines deadlines;
  private final HttpServer server;

  private ProvingGround(FleetSource fleet, SecureRandom random) throws ListenFailed {
    this.fleet = fleet;
    byte[] bytes = new byte[KEY_BYTES];
    random.nextBytes(bytes);
    this.key = HexFormat.of().formatHex(bytes);
    this.deadlines = new Deadlines(System::nanoTime).start();
    Speeds speeds = new Speeds();
    Dispatcher dispatcher =
        new Dispatcher(
            this,
            new Ledger(),
            speeds,
            () -> QueueLimits.of(FleetSpec.Limits.DEFAULT),
            System::nanoTime);
    Gateway gateway =
        new Gateway(
            this,
            dispatcher,
            authenticator(key),
            new Recorder(
                speeds, new Unrecorded(), new Metrics(), InstantSource.system(), System::nanoTime),
            deadlines,
            GatewayLimits.DEFAULTS,
            HubListener.LIMITS,
            FleetSpec.Limits.DEFAULT::requestBodyBytes,
            System::nanoTime);
    this.server =
        HubListener.of(
            Place.loopback(),
            HubListener.LIMITS,
            FleetSpec.Limits.DEFAULT::requestBodyBytes,
            List.of(gateway),
            List.of());
  }

  /**
   * Opens it.
   *
   * @param fleet where the names of models and what they promise are known
   * @throws ListenFailed where no port of loopback can be had
   */
  public static ProvingGround open(FleetSource fleet, SecureRandom random) throws ListenFailed {
    ProvingGround ground = new ProvingGround(fleet, random);
    ground.server.start();
    return ground;
  }

  private static Authenticator authenticator(String key) {
    return new Authenticator() {
      @Override
      public boolean required() {
        return true;
      }

      @Override
      public Optional<ClientKey> authenticate(String bearer) {
        return MessageDigest.isEqual(bearer.getBytes(US_ASCII), key.getBytes(US_ASCII))
            ? Optional.of(new ClientKey("proof"))
            : Optional.empty();
      }
    };
  }

  /** A worker's place here, by a name of its own; to be closed. */
  Stand enter(Target target) {
    String name = target.name() + "@" + entered.incrementAndGet();
    stands.put(name, target.admitting(true));
    listeners.forEach(Runnable::run);
    return new Stand(name, target);
  }

  /** One worker under a name. */
  final class Stand implements AutoCloseable {
    private final String name;
    private final Target target;

    Stand(String name, Target target) {
      this.name = name;
      this.target = target;
    }

    /** What is put into {@code model}. */
    String name() {
      return name;
    }

    Target target() {
      return target;
    }

    @Override
    public void close() {
      stands.remove(name);
      listeners.forEach(Runnable::run);
    }
  }

  URI address() {
    return URI.create("http://127.0.0.1:" + server.port());
  }

  String key() {
    return key;
  }

  Deadlines deadlines() {
    return deadlines;
  }

  @Override
  public FleetSnapshot current() {
    FleetSnapshot now = fleet.current();
    Map<String, FleetSnapshot.Name> names = new ConcurrentHashMap<>();
    stands.forEach((name, target) -> names.put(name, name(now, name, target)));
    return new FleetSnapshot(now.revision(), names, now.onMachines());
  }

  private static FleetSnapshot.Name name(FleetSnapshot now, String name, Target target) {
    FleetSnapshot.Name model = now.names().get(target.model());
    return new FleetSnapshot.Name(
        name, 0, model == null ? 0 : model.contextTokens(), List.of(target), 0, "");
  }

  @Override
  public void onChange(Runnable listener) {
    listeners.add(listener);
  }

  @Override
  public void close() {
    server.close();
    deadlines.close();
  }

  /** What a proof does is told by its verdict. */
  private record Unrecorded() implements Journal {
    @Override
    public void usage(Usage usage) {}

    @Override
    public void event(Severity severity, String kind, String subject, String message) {}
  }
}
