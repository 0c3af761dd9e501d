package dev.flotilla.cli.bench;

import dev.flotilla.agent.node.NodeProbe;
import dev.flotilla.agent.process.LoneEngine;
import dev.flotilla.agent.process.LoneProcess;
import dev.flotilla.agent.process.ProcessStarter;
import dev.flotilla.bench.launch.ProcessStart;
import dev.flotilla.bench.launch.Setting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** This machine, as engines that a benchmark starts have it: processors, memory, folders. */
final class LocalMachine implements ProcessStart {
  private static final System.Logger LOG = System.getLogger(LocalMachine.class.getName());

  private final NodeProbe probe = new NodeProbe(List::of);
  private final Cores cores;
  private final double memoryFraction;
  private final Optional<Duration> readyWithin;

  /**
   * @param memoryFraction share of the free memory that an engine may take
   * @param readyWithin time to become ready, where somebody says
   */
  LocalMachine(Cores cores, double memoryFraction, Optional<Duration> readyWithin) {
    this.cores = cores;
    this.memoryFraction = memoryFraction;
    this.readyWithin = readyWithin;
  }

  Cores cores() {
    return cores;
  }

  /** As many as are said, else one for each processor that it is bound to, else for each core. */
  int threads(Setting setting) {
    return setting
        .threads()
        .orElseGet(() ->
            setting
                .cores()
                .map(list -> Cores.numbers(list).size())
                .orElseGet(() -> probe.refresh().physicalCores()));
  }

  LoneEngine.Place place(Path folder, int threads, ProcessStarter starter) {
    return new LoneEngine.Place(
        folder,
        threads,
        memoryFraction,
        () -> probe.refresh().memoryAvailableBytes(),
        readyWithin,
        starter,
        new SecureRandom());
  }

  /** A new folder for one launch; {@link #remove} it afterwards. */
  Path folder(String name) throws IOException {
    return Files.createTempDirectory("flotilla-bench-" + name + "-");
  }

  /** Removes a launch's folder; what can't be removed stays. */
  static void remove(Path folder) {
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      LOG.log(System.Logger.Level.DEBUG, "{0} stays: {1}", folder, e.toString());
    }
  }

  @Override
  public Running start(String name, List<String> command, Optional<String> onCores)
      throws IOException {
    ProcessStarter starter = cores.starter(onCores);
    Path folder = folder(name);
    boolean kept = false;
    try {
      LoneProcess process = LoneProcess.start(starter, command, System.getenv(), folder, name);
      kept = true;
      return new Lone(process, folder);
    } finally {
      if (!kept) {
        remove(folder);
      }
    }
  }

  /** A process and its folder. */
  private record Lone(LoneProcess process, Path folder) implements Running {
    @Override
    public boolean isAlive() {
      return process.isAlive();
    }

    @Override
    public int exitCode() {
      return process.exitCode();
    }

    @Override
    public List<String> lastLines() {
      try {
        return process.lastLines();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return List.of();
      }
    }

    @Override
    public long residentBytes() {
      return process.residentBytes();
    }

    @Override
    public void close() {
      process.close();
      remove(folder);
    }
  }
}
