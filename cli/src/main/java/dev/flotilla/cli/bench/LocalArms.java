package dev.flotilla.cli.bench;

import dev.flotilla.agent.process.ProcessStarter;
import dev.flotilla.bench.arms.Arm;
import dev.flotilla.bench.arms.ArmServer;
import dev.flotilla.bench.arms.ServerCounters;
import dev.flotilla.bench.launch.EngineNotStarted;
import dev.flotilla.bench.launch.EngineStart;
import dev.flotilla.bench.launch.Setting;
import dev.flotilla.bench.launch.StartedEngine;
import dev.flotilla.cli.output.Text;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The servers of all three arms on this machine, at the same time: A and C are a llama-server each
 * on the same processors, B is a fleet of two with a worker on these and one on others. Only one
 * arm is asked at a time; the others then wait and take no processor.
 *
 * <p>{@link #close} ends them all; again is nothing.
 */
final class LocalArms implements AutoCloseable {
  private static final int MACHINES = 2;

  private final EngineCounters counters = new EngineCounters();
  private final Map<Arm, ArmServer> servers = new EnumMap<>(Arm.class);
  private final List<AutoCloseableQuietly> parts = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();

  /** Ends without a word. */
  private interface AutoCloseableQuietly extends AutoCloseable {
    @Override
    void close();
  }

  private LocalArms() {}

  /**
   * What is started.
   *
   * @param model the name that requests carry
   * @param setting of C: the slots of the others are one
   */
  record Wanted(String model, Path file, Setting setting, Duration readyWithin) {}

  /**
   * Starts them.
   *
   * @throws EngineNotStarted where one does not come up; then nothing is left running
   */
  static LocalArms start(LocalEngineStarts starts, EngineStart llamaServer, Wanted wanted)
      throws EngineNotStarted, InterruptedException {
    LocalArms arms = new LocalArms();
    boolean kept = false;
    try {
      arms.startAll(starts, llamaServer, wanted);
      kept = true;
      return arms;
    } finally {
      if (!kept) {
        arms.close();
      }
    }
  }

  private void startAll(LocalEngineStarts starts, EngineStart llamaServer, Wanted wanted)
      throws EngineNotStarted, InterruptedException {
    List<Optional<String>> machines = machines(starts.machine().cores(), wanted.setting());
    Setting first = bound(starts, wanted.setting(), machines.getFirst());
    single(Arm.A, llamaServer, first.withSlots(1));
    single(Arm.C, llamaServer, first);
    List<ProcessStarter> starters = new ArrayList<>();
    try {
      for (Optional<String> cores : machines) {
        starters.add(starts.machine().cores().starter(cores));
      }
    } catch (IOException e) {
      throw new EngineNotStarted("Arm B can't be started: " + e.getMessage() + ".", e);
    }
    LocalFleet fleet =
        LocalFleet.start(
            starts,
            new LocalFleet.Served(
                wanted.model(),
                wanted.file(),
                first.contextTokens(),
                1,
                first.threads().orElseThrow()),
            starters,
            wanted.readyWithin());
    parts.add(fleet::close);
    servers.put(Arm.B, fleet.server(wanted.model(), counters));
    fleet.commandLines().forEach(line -> notes.add("B: " + Text.commandLine(line)));
  }

  private void single(Arm arm, EngineStart llamaServer, Setting setting)
      throws EngineNotStarted, InterruptedException {
    StartedEngine engine = llamaServer.start(setting);
    parts.add(engine::close);
    servers.put(arm, new ArmServer(engine, () -> read(engine)));
    notes.add(
        arm
            + setting.cores().map(cores -> " on processor " + cores).orElse("")
            + ": "
            + Text.commandLine(engine.commandLine()));
  }

  private Map<String, ServerCounters> read(StartedEngine engine) {
    Map<String, ServerCounters> counted = new LinkedHashMap<>();
    try {
      counters
          .read(URI.create(engine.baseUrl()), engine.key())
          .ifPresent(each -> counted.put("llama-server", each));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return counted;
  }

  /** The processors of each machine; nothing where machines can't be held apart. */
  private List<Optional<String>> machines(Cores cores, Setting setting) {
    List<Integer> numbers = setting.cores().map(Cores::numbers).orElseGet(cores::allowed);
    Optional<String> why =
        cores
            .whyNot()
            .or(() ->
                numbers.size() < MACHINES
                    ? Optional.of("there is only one processor to bind to")
                    : Optional.empty());
    if (why.isPresent()) {
      notes.add(
          "The two machines share all processors of this one ("
              + why.get()
              + "): B then says what a second process is worth, and nothing of a second machine.");
      return List.of(Optional.empty(), Optional.empty());
    }
    // Where nobody says, one processor each; else half of those that are named.
    int each = setting.cores().isPresent() ? numbers.size() / MACHINES : 1;
    return List.of(list(numbers.subList(0, each)), list(numbers.subList(each, 2 * each)));
  }

  private static Optional<String> list(List<Integer> numbers) {
    return Optional.of(String.join(",", numbers.stream().map(String::valueOf).toList()));
  }

  /** With those processors, and a thread for each unless somebody says how many. */
  private static Setting bound(LocalEngineStarts starts, Setting setting, Optional<String> cores) {
    Setting bound = setting.withCores(cores);
    return new Setting(
        bound.model(),
        bound.slots(),
        bound.contextTokens(),
        OptionalInt.of(starts.machine().threads(bound)),
        cores);
  }

  Map<Arm, ArmServer> servers() {
    return servers;
  }

  /** What a reader should know of how they were started, one line each. */
  List<String> notes() {
    return List.copyOf(notes);
  }

  @Override
  public void close() {
    parts.reversed().forEach(AutoCloseableQuietly::close);
    parts.clear();
  }
}
