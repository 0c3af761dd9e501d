package dev.flotilla.hub;

import dev.flotilla.hub.api.Api;
import dev.flotilla.hub.api.HostGuard;
import dev.flotilla.hub.api.HubStatus;
import dev.flotilla.hub.fleet.Fleet;
import dev.flotilla.hub.fleet.FleetLimits;
import dev.flotilla.hub.fleet.WorkerView;
import dev.flotilla.hub.gateway.BackendProbe;
import dev.flotilla.hub.gateway.Gateway;
import dev.flotilla.hub.gateway.GatewayLimits;
import dev.flotilla.hub.gateway.Health;
import dev.flotilla.hub.gateway.HubListener;
import dev.flotilla.hub.gateway.Metrics;
import dev.flotilla.hub.gateway.ModelList;
import dev.flotilla.hub.gateway.Recorder;
import dev.flotilla.hub.gateway.SocketDialer;
import dev.flotilla.hub.keys.EnrolledNodes;
import dev.flotilla.hub.keys.EnrolmentTokens;
import dev.flotilla.hub.keys.Keys;
import dev.flotilla.hub.lanes.EnrolService;
import dev.flotilla.hub.lanes.LaneLimits;
import dev.flotilla.hub.lanes.LaneUpgrades;
import dev.flotilla.hub.lanes.WorkLanes;
import dev.flotilla.hub.proof.LiveWatch;
import dev.flotilla.hub.proof.ProofArchive;
import dev.flotilla.hub.proof.ProofLimits;
import dev.flotilla.hub.proof.ProofRun;
import dev.flotilla.hub.proof.Prover;
import dev.flotilla.hub.proof.ProvingGround;
import dev.flotilla.hub.proof.ShapeCheck;
import dev.flotilla.hub.releases.ReleaseDownloads;
import dev.flotilla.hub.releases.ReleaseLimits;
import dev.flotilla.hub.releases.Releases;
import dev.flotilla.hub.reports.Reports;
import dev.flotilla.hub.routing.Dialer;
import dev.flotilla.hub.routing.Dispatcher;
import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.hub.routing.Ledger;
import dev.flotilla.hub.routing.QueueLimits;
import dev.flotilla.hub.routing.Speeds;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.hub.spec.Revisions;
import dev.flotilla.hub.store.Store;
import dev.flotilla.hub.store.StoreFailed;
import dev.flotilla.hub.store.StoreLimits;
import dev.flotilla.hub.store.WorkerChange;
import dev.flotilla.hub.ui.Dashboard;
import dev.flotilla.hub.ui.DashboardAccess;
import dev.flotilla.hub.ui.ReportPages;
import dev.flotilla.server.http.HttpServer;
import dev.flotilla.server.http.HttpServer.Place;
import dev.flotilla.server.http.ListenFailed;
import dev.flotilla.server.http.ServerLimits;
import dev.flotilla.wire.connection.Deadlines;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import io.helidon.webserver.http.HttpService;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import javax.net.ssl.SSLContext;

/**
 * A whole hub: every part made, in the order in which each needs the ones before it, and ended the
 * other way round.
 *
 * <p><b>The start.</b> First the store, because a hub that can't read what it promised to remember
 * must not run. From it the keys; now it is known whether keys are demanded, and a hub that would
 * listen beyond this machine without any refuses to. Then the lanes and the fleet, which remembers
 * its nodes and workers but serves nothing; the ledger and the dispatcher, which follow the fleet;
 * and the configuration in force, which tells the fleet what to serve. All of it stands before the
 * listener opens, so the first request and the first agent to return meet a hub that knows what it
 * wants: an agent that came back a moment too early would be told to stop its workers.
 *
 * <p><b>The stop.</b> The pages' open streams end, and what is asked from now on is refused.
 * Requests in flight run on, through lanes and to backends, for {@link ServerLimits#stopTime()} at
 * most; what runs then is cut, and has {@link ServerLimits#lastWords()} to tell its client, in the
 * stream where that has begun. Where nothing runs, nothing is waited for. Then the listener closes,
 * and with it the lanes: agents see their connections end, keep their workers and dial on. The
 * store comes last and writes what waits.
 *
 * <p><b>Concurrency.</b> The parts look after themselves. {@link #close()} runs once; a start that
 * fails half-way closes what it had made.
 */
public final class Hub implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(Hub.class.getName());

  private final HubConfig config;
  private final InstantSource clock = InstantSource.system();
  private final SecureRandom random = new SecureRandom();
  private final Deque<AutoCloseable> made = new ArrayDeque<>();
  private final Instant startedAt = clock.instant();

  private final Store store;
  private final Keys keys;
  private final EnrolmentTokens tokens;
  private final Fleet fleet;
  private final Dispatcher dispatcher;
  private final ProofArchive proofs;
  private final Prover prover;
  private final Revisions revisions;
  private final HttpServer server;

  /**
   * Starts a hub; when this returns it answers.
   *
   * @throws HubRefused where it can't or must not run
   */
  public static Hub start(HubConfig config) throws HubRefused {
    return start(config, StoreLimits.DEFAULT);
  }

  /** As {@link #start(HubConfig)}, with other limits of the store. */
  static Hub start(HubConfig config, StoreLimits storeLimits) throws HubRefused {
    return new Hub(config, storeLimits);
  }

  private Hub(HubConfig config, StoreLimits storeLimits) throws HubRefused {
    this.config = config;
    try {
      store = closing(Store.open(config.home(), storeLimits, clock));
      RecentEvents journal = new RecentEvents(store, clock);
      keys = keys();
      tokens = new EnrolmentTokens(store, clock, random);
      EnrolledNodes nodes = new EnrolledNodes(store, tokens, random);
      Reports reports = new Reports(store, journal, clock, keys.required(), random);

      WorkLanes lanes = closing(new WorkLanes(LaneLimits.DEFAULT, System::nanoTime));
      Ledger ledger = new Ledger();
      fleet =
          closing(
              new Fleet(
                  hubId(),
                  lanes,
                  store.fleetMemory(),
                  journal,
                  dialers(),
                  config.environment(),
                  ledger::inFlight,
                  FleetLimits.DEFAULT,
                  clock,
                  System::nanoTime));
      fleet.onWorkerChange(view -> store.workerChanged(change(view)));
      revisions =
          new Revisions(
              store, journal, clock, next -> fleet.apply(next.spec(), next.number(), next.at()));
      Speeds speeds = new Speeds();
      dispatcher =
          new Dispatcher(
              fleet,
              ledger,
              speeds,
              () -> QueueLimits.of(revisions.inForce().spec().limits()),
              System::nanoTime);
      revisions.start();
      proofs = ProofArchive.open(store.proofs(), clock, config.proofs().reuse());
      prover = prover(ledger, speeds);
      fleet.start();
      Releases releases = new Releases(config.home(), journal, clock, ReleaseLimits.DEFAULT);
      start(releases);

      LaneUpgrades upgrades = closing(new LaneUpgrades(nodes, fleet, lanes, System::nanoTime));
      Dashboard dashboard =
          new Dashboard(
              new FleetWindow(fleet, dispatcher, journal, proofs, reports, this::notices),
              access(),
              () -> address().toString());
      List<HttpService> services = new ArrayList<>(clientServices(ledger, speeds, journal));
      services.addFirst(
          new HostGuard(config.listen().getHostString(), config.machineName(), keys.required()));
      services.add(new EnrolService(nodes, LaneLimits.DEFAULT, System::nanoTime));
      services.add(new ReleaseDownloads(releases, nodes));
      services.add(new Api(apiParts(nodes, journal, reports, releases)));
      services.add(dashboard);
      services.add(new ReportPages(reports, access()));
      server =
          closing(
              HubListener.of(
                  new Place(config.listen(), config.certificate(), localListener()),
                  HubListener.LIMITS,
                  () ->
                      Math.min(
                          revisions.inForce().spec().limits().requestBodyBytes(),
                          HubListener.LIMITS.bodyBytesMax()),
                  services,
                  upgrades.upgraders()));
      server.start();
      closing(dashboard);
      prover.start();
      closing(
              new MemoryReturn(
                  ledger::inFlight,
                  ledger::begun,
                  new MemoryReturn.JvmHeap(),
                  MemoryReturn.Limits.DEFAULTS,
                  System::nanoTime))
          .start();
    } catch (StoreFailed e) {
      close();
      throw new HubRefused(e.sentence(), e);
    } catch (ListenFailed e) {
      close();
      throw new HubRefused(String.valueOf(e.getMessage()), e);
    } catch (HubRefused | RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Keys, and with them whether they are demanded: beyond loopback, and once there are any. */
  private Keys keys() throws StoreFailed, HubRefused {
    boolean any = !store.clientKeys().all().isEmpty();
    boolean beyond = !config.loopbackOnly();
    if (beyond && !any && !config.allowNoKeys()) {
      throw StartCheck.withoutKeys(config);
    }
    return new Keys(store, any, clock, random);
  }

  /** What clients call: {@code /v1/*}, {@code /health}, {@code /ready}, {@code /metrics}. */
  private List<HttpService> clientServices(Ledger ledger, Speeds speeds, RecentEvents journal) {
    Deadlines deadlines = closing(new Deadlines(System::nanoTime)).start();
    closing(
            new BackendProbe(
                fleet::backendTargets,
                ledger::inFlight,
                fleet::backendHeard,
                deadlines,
                System::nanoTime))
        .start();
    Metrics metrics = new Metrics();
    HubGauges.add(metrics, store, revisions, fleet);
    GatewayLimits limits = GatewayLimits.DEFAULTS;
    Gateway gateway =
        new Gateway(
            fleet,
            dispatcher,
            keys,
            new Recorder(speeds, journal, metrics, clock, System::nanoTime)
                .onServed(this::alive)
                .watchedBy(
                    new LiveWatch(
                        fleet,
                        prover,
                        prover::inFlightOn,
                        journal,
                        config.proofs(),
                        System::nanoTime)),
            deadlines,
            limits,
            HubListener.LIMITS,
            () -> revisions.inForce().spec().limits().requestBodyBytes(),
            System::nanoTime);
    return List.of(
        gateway,
        new ModelList(fleet, keys, limits),
        new Health(fleet, dispatcher, metrics, this::troubles));
  }

  /** What shows that workers are what they should be, before they serve. */
  private Prover prover(Ledger ledger, Speeds speeds) throws ListenFailed {
    ProofLimits limits = config.proofs();
    ProvingGround ground = closing(ProvingGround.open(fleet, random));
    ProofRun run =
        new ProofRun(
            ground,
            new ShapeCheck(ground, fleet, dispatcher::spare, limits, System::nanoTime),
            proofs,
            node -> Prover.freeMemory(fleet, node),
            limits,
            clock,
            System::nanoTime);
    return closing(
        new Prover(
            fleet,
            dispatcher,
            ledger,
            speeds,
            () -> revisions.inForce().spec(),
            proofs,
            run,
            limits,
            System::nanoTime));
  }

  /** A reply in order is proof of life, where a question was answered with none. */
  private void alive(Target target) {
    if (target.kind() == Target.Kind.BACKEND && fleet.isUnreachable(target.name())) {
      fleet.backendHeard(target, "");
    }
  }

  /** What makes the connections to backends. */
  private Function<FleetSpec.Backend, Dialer> dialers() throws HubRefused {
    Optional<SSLContext> tls = StartCheck.authorities(config.authorities());
    return backend ->
        new SocketDialer(backend.url(), tls, SocketDialer.Limits.DEFAULTS, System::nanoTime);
  }

  private WorkerChange change(WorkerView view) {
    return new WorkerChange(
        clock.instant(),
        view.name(),
        view.node(),
        view.model(),
        view.generation(),
        view.state().name().toLowerCase(Locale.ROOT),
        view.stateReason(),
        String.join(" ", view.startedWith()));
  }

  /** What is amiss though requests are served. */
  private List<String> troubles() {
    return notices().stream()
        .filter(notice -> notice.severity() == Severity.ERROR)
        .map(HubStatus.Notice::message)
        .toList();
  }

  private Optional<InetSocketAddress> localListener() {
    return config.localListener()
        ? Optional.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
        : Optional.empty();
  }

  private void start(Releases releases) throws HubRefused {
    try {
      releases.start(fleet::offer);
    } catch (IOException e) {
      throw new HubRefused("the releases in the hub's home can't be read: " + e.getMessage(), e);
    }
  }

  private Api.Parts apiParts(
      EnrolledNodes nodes, RecentEvents journal, Reports reports, Releases releases) {
    return new Api.Parts(
        fleet,
        dispatcher,
        store,
        keys,
        tokens,
        nodes,
        journal,
        revisions,
        reports,
        releases,
        proofs,
        this::status,
        config.listen().getHostString(),
        config.machineName());
  }

  private DashboardAccess access() {
    return new DashboardAccess() {
      @Override
      public boolean keysDemanded() {
        return keys.required();
      }

      @Override
      public boolean admits(String bearerToken) {
        return keys.find(bearerToken).isPresent();
      }
    };
  }

  /** A random name for this state folder, made once: agents tell by it whether it is their hub. */
  private String hubId() {
    Path file = config.home().resolve("hub").resolve("id");
    try {
      if (Files.exists(file)) {
        return Files.readString(file).strip();
      }
      byte[] id = new byte[8];
      random.nextBytes(id);
      Path fresh = file.resolveSibling("id.new");
      Files.writeString(fresh, HexFormat.of().formatHex(id) + "\n");
      Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
      return HexFormat.of().formatHex(id);
    } catch (IOException e) {
      throw new UncheckedIOException("can't keep the hub's id in " + file, e);
    }
  }

  private List<HubStatus.Notice> notices() {
    return Notices.of(
        config,
        keys.required(),
        store.health(),
        revisions.rejection(),
        revisions.inForce().number());
  }

  /** How the hub is now. */
  public HubStatus status() {
    FleetSnapshot snapshot = fleet.current();
    return new HubStatus(
        config.version(),
        address().toString(),
        startedAt,
        snapshot.names().values().stream().anyMatch(dispatcher::serves),
        revisions.inForce().number(),
        keys.required(),
        config.certificate().isPresent(),
        notices());
  }

  /** How the hub is called from this machine: {@code http://127.0.0.1:8484}. */
  public URI address() {
    InetAddress listen = config.listen().getAddress();
    String host = listen.isAnyLocalAddress() ? "127.0.0.1" : config.listen().getHostString();
    String scheme = config.certificate().isPresent() ? "https" : "http";
    return URI.create(
        scheme + "://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + server.port());
  }

  /** How an agent in this process calls the hub. */
  public URI localAddress() {
    return config.localListener()
        ? URI.create("http://127.0.0.1:" + server.localPort())
        : address();
  }

  /** The fleet, for whoever runs in the same process. */
  public Fleet fleet() {
    return fleet;
  }

  /** The configuration in force and the way to the next. */
  public Revisions revisions() {
    return revisions;
  }

  /** Tokens for new agents. */
  public EnrolmentTokens tokens() {
    return tokens;
  }

  private <T extends AutoCloseable> T closing(T part) {
    made.push(part);
    return part;
  }

  @Override
  public void close() {
    while (!made.isEmpty()) {
      AutoCloseable part = made.pop();
      try {
        part.close();
      } catch (Exception e) {
        LOG.log(System.Logger.Level.WARNING, "while closing " + part.getClass().getSimpleName(), e);
      }
    }
  }
}
