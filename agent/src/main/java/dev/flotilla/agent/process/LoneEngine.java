package dev.flotilla.agent.process;

import dev.flotilla.agent.engine.EngineAdapter;
import dev.flotilla.agent.engine.EngineAdapter.Launch;
import dev.flotilla.agent.engine.EngineAdapter.LaunchCommand;
import dev.flotilla.agent.engine.EngineAdapter.MemoryNeed;
import dev.flotilla.agent.engine.EngineAdapter.ModelRefused;
import dev.flotilla.agent.engine.EngineAdapter.Readiness;
import dev.flotilla.wire.connection.LoopbackPorts;
import dev.flotilla.wire.fleet.WorkerSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * One engine that a command of ours starts for itself, as a worker would be started: the same
 * command line, the same look at the memory, the same proof that it is ready and ours. Whoever
 * started it ends it; nothing starts it again.
 */
public final class LoneEngine implements AutoCloseable {
  private static final int KEY_BYTES = 24;
  private static final long GENERATION = 1;

  private final LoneProcess process;
  private final EngineAdapter adapter;
  private final List<String> command;
  private final Launch launch;
  private final int port;
  private final Readiness.Ready ready;
  private final Duration readyAfter;

  private LoneEngine(
      Attempt attempt, EngineAdapter adapter, Readiness.Ready ready, Duration readyAfter) {
    this.process = attempt.process;
    this.adapter = adapter;
    this.command = attempt.command;
    this.launch = attempt.launch;
    this.port = attempt.port;
    this.ready = ready;
    this.readyAfter = readyAfter;
  }

  /** It did not come up: one sentence that says why. */
  public static final class NotReady extends Exception {
    private static final long serialVersionUID = 1L;

    NotReady(String message) {
      super(message);
    }
  }

  /**
   * What an engine needs around it.
   *
   * @param folder of this launch alone: the engine runs there, and its log is there
   * @param threads processor threads that it gets
   * @param memoryFraction share of the free memory that it may take
   * @param memoryAvailable free plus inactive memory in bytes
   * @param readyWithin time to become ready; without it as a worker has it, by its weights
   */
  public record Place(
      Path folder,
      int threads,
      double memoryFraction,
      LongSupplier memoryAvailable,
      Optional<Duration> readyWithin,
      ProcessStarter starter,
      RandomGenerator random) {}

  private record Attempt(
      LoneProcess process,
      List<String> command,
      Launch launch,
      int port,
      LaunchIdentity identity) {}

  /**
   * Starts it, and returns when it is ready. {@link EngineAdapter#prepare} has returned for this
   * spec before.
   *
   * @throws NotReady where it is not; then nothing is left running
   */
  public static LoneEngine start(EngineAdapter adapter, WorkerSpec spec, Path model, Place place)
      throws NotReady, InterruptedException {
    MemoryNeed need;
    try {
      need = adapter.memoryNeed(spec, model);
    } catch (ModelRefused e) {
      throw new NotReady(String.valueOf(e.getMessage()));
    }
    Optional<String> shortage =
        MemoryClaims.shortage(need, place.memoryAvailable().getAsLong(), 0, place.memoryFraction());
    if (shortage.isPresent()) {
      throw new NotReady(shortage.get());
    }
    Duration within =
        place
            .readyWithin()
            .orElseGet(() ->
                SupervisorLimits.DEFAULTS
                    .readyWithin(need.weightBytes())
                    .plus(adapter.slowStart()));
    for (int tries = 1; tries <= SupervisorLimits.DEFAULTS.portTries(); tries++) {
      Optional<LoneEngine> engine = once(adapter, spec, model, place, within);
      if (engine.isPresent()) {
        return engine.get();
      }
    }
    throw new NotReady(
        "Other programs took each of the %d ports that were tried."
            .formatted(SupervisorLimits.DEFAULTS.portTries()));
  }

  /** One port's try; empty where another program took the port. */
  private static Optional<LoneEngine> once(
      EngineAdapter adapter, WorkerSpec spec, Path model, Place place, Duration within)
      throws NotReady, InterruptedException {
    long started = System.nanoTime();
    Attempt attempt;
    try {
      attempt = begin(adapter, spec, model, place);
    } catch (IOException e) {
      throw new NotReady("It can't be started: " + e.getMessage() + ".");
    }
    boolean kept = false;
    try {
      Optional<Readiness.Ready> ready = awaitReady(adapter, spec, model, attempt, started, within);
      kept = ready.isPresent();
      return ready.map(answer ->
          new LoneEngine(attempt, adapter, answer, Duration.ofNanos(System.nanoTime() - started)));
    } finally {
      if (!kept) {
        attempt.process.close();
      }
    }
  }

  private static Attempt begin(EngineAdapter adapter, WorkerSpec spec, Path model, Place place)
      throws IOException {
    byte[] key = new byte[KEY_BYTES];
    place.random().nextBytes(key);
    int port = LoopbackPorts.free();
    Files.createDirectories(place.folder().resolve("config"));
    Launch launch = new Launch(HexFormat.of().formatHex(key), place.folder(), GENERATION);
    LaunchCommand command = adapter.command(spec, model, port, place.threads(), launch);
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.keySet().removeIf(variable -> !adapter.inherits(variable));
    environment.putAll(command.environment());
    LoneProcess process =
        LoneProcess.start(
            place.starter(), command.arguments(), environment, place.folder(), spec.id());
    LaunchIdentity identity =
        new LaunchIdentity(process.handle(), port, adapter.hasKey(), PortOwners.ofSystem());
    return new Attempt(process, command.arguments(), launch, port, identity);
  }

  private static Optional<Readiness.Ready> awaitReady(
      EngineAdapter adapter,
      WorkerSpec spec,
      Path model,
      Attempt attempt,
      long started,
      Duration within)
      throws NotReady, InterruptedException {
    String seen = "nothing was heard of it";
    while (true) {
      if (attempt.process.awaitEnd(SupervisorLimits.DEFAULTS.probeEvery())) {
        if (LoopbackPorts.taken(attempt.port)) {
          return Optional.empty();
        }
        throw new NotReady(
            "It never became ready. "
                + adapter.explainExit(attempt.process.exitCode(), attempt.process.lastLines()));
      }
      switch (attempt.identity.prove(
          () -> adapter.probe(spec, model, attempt.port, attempt.launch))) {
        case Readiness.Ready answer -> {
          return Optional.of(answer);
        }
        case Readiness.Stranger _ -> {
          return Optional.empty();
        }
        case Readiness.Broken broken ->
            throw new NotReady(
                broken.what()
                    + " "
                    + adapter.explainExit(EngineAdapter.NO_EXIT, attempt.process.lastLines()));
        case Readiness.Wrong wrong -> throw new NotReady(wrong.why());
        case Readiness.NotYet notYet -> seen = notYet.what();
      }
      if (System.nanoTime() - started > within.toNanos()) {
        throw new NotReady(
            "It was not ready within %s (%s).".formatted(WorkerLife.seconds(within), seen));
      }
    }
  }

  /** The loopback port that it listens on. */
  public int port() {
    return port;
  }

  /** The key that it demands, a secret. */
  public String key() {
    return launch.apiKey();
  }

  /** Its command line, without secrets. */
  public List<String> command() {
    return command;
  }

  /** What the engine says of its build. */
  public String build() {
    return ready.engineBuild();
  }

  /** From the start of its process until it was ready. */
  public Duration readyAfter() {
    return readyAfter;
  }

  public long pid() {
    return process.pid();
  }

  /** See {@link LoneProcess#residentBytes}. */
  public long residentBytes() {
    return process.residentBytes();
  }

  /** Why it has ended; empty while it runs. */
  public Optional<String> whyEnded() throws InterruptedException {
    return process.isAlive()
        ? Optional.empty()
        : Optional.of(adapter.explainExit(process.exitCode(), process.lastLines()));
  }

  /** Ends it and all that it started; none is left after this. */
  @Override
  public void close() {
    process.close();
  }
}
