package dev.flotilla.agent.node;

import dev.flotilla.agent.node.ControlGroup.Memory;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.NodeFacts.Accelerator;
import dev.flotilla.wire.fleet.NodeFacts.EngineFacts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import oshi.hardware.CentralProcessor;
import oshi.hardware.GlobalMemory;
import oshi.hardware.GraphicsCard;
import oshi.hardware.HardwareAbstractionLayer;
import oshi.software.os.OperatingSystem;
import oshi.spi.SystemInfoFactory;
import oshi.spi.SystemInfoProvider;

/**
 * Measures this machine.
 *
 * <p>{@link #probe} asks everything, and may start the drivers' own programs for a few seconds;
 * {@link #refresh} reads again what changes from moment to moment, from memory counters and files
 * alone, and is cheap enough for every heartbeat. Any thread may call both.
 *
 * <p>Where a control group limits the process (a container, a systemd unit), memory and cores are
 * the limit's, since an engine started here would be held to it. Available memory is free plus
 * inactive: on Linux the kernel's own {@code MemAvailable}, on macOS free and inactive pages.
 */
public final class NodeProbe {

  /** Longest wait for one of the drivers' programs. */
  static final Duration PROGRAM_LIMIT = Duration.ofSeconds(5);

  /** Asks a program of the machine; empty where it is missing, fails or takes too long. */
  interface Programs {
    Optional<String> ask(List<String> command);
  }

  private static final System.Logger LOG = System.getLogger(NodeProbe.class.getName());
  private static final Path ROOT = Path.of("/");

  private final Supplier<List<EngineFacts>> engines;
  private final Programs programs;
  private final boolean linux;
  private final HardwareAbstractionLayer hardware;
  private final OperatingSystem system;
  private final Optional<ControlGroup> group;
  private volatile Optional<NodeFacts> last = Optional.empty();

  /**
   * @param engines what can be started without installing anything; asked by {@link #probe} only
   */
  public NodeProbe(Supplier<List<EngineFacts>> engines) {
    this(engines, NodeProbe::ask);
  }

  NodeProbe(Supplier<List<EngineFacts>> engines, Programs programs) {
    this.engines = engines;
    this.programs = programs;
    this.linux = System.getProperty("os.name", "").startsWith("Linux");
    // On Linux everything wanted here is in files: no native library has to be unpacked and loaded.
    SystemInfoProvider provider =
        linux ? new oshi.nativefree.SystemInfo() : SystemInfoFactory.create();
    this.hardware = provider.getHardware();
    this.system = provider.getOperatingSystem();
    this.group = linux ? ControlGroup.find(ROOT) : Optional.empty();
  }

  /** Everything, anew. */
  public NodeFacts probe() {
    CentralProcessor processor = hardware.getProcessor();
    int logical =
        Math.clamp(
            processor.getLogicalProcessorCount(), 1, Runtime.getRuntime().availableProcessors());
    int physical = Math.clamp(processor.getPhysicalProcessorCount(), 1, logical);
    GlobalMemory memory = hardware.getMemory();
    String version = linux ? text(Path.of("/proc/version")) : "";
    NodeFacts facts =
        new NodeFacts(
            host(),
            os(System.getProperty("os.name", "")),
            (system.getFamily() + " " + system.getVersionInfo().getVersion()).strip(),
            arch(System.getProperty("os.arch", "")),
            version.toLowerCase(Locale.ROOT).contains("microsoft"),
            processor.getProcessorIdentifier().getName().strip(),
            physical,
            logical,
            total(memory),
            available(memory),
            processor.getSystemLoadAverage(1)[0],
            accelerators(),
            engines.get());
    last = Optional.of(facts);
    return facts;
  }

  /** The last facts, with memory, load and what the kernel says of accelerators read anew. */
  public NodeFacts refresh() {
    Optional<NodeFacts> before = last;
    if (before.isEmpty()) {
      return probe();
    }
    NodeFacts facts = before.get();
    return new NodeFacts(
        facts.host(),
        facts.os(),
        facts.osVersion(),
        facts.arch(),
        facts.wsl(),
        facts.cpu(),
        facts.physicalCores(),
        facts.logicalCores(),
        facts.memoryTotalBytes(),
        available(hardware.getMemory()),
        hardware.getProcessor().getSystemLoadAverage(1)[0],
        facts.accelerators(),
        facts.engines());
  }

  /** The operating system in the words of {@link NodeFacts#os()}. */
  static String os(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    if (lower.startsWith("mac") || lower.startsWith("darwin")) {
      return "macos";
    }
    return lower.startsWith("windows") ? "windows" : lower.startsWith("linux") ? "linux" : lower;
  }

  /** The architecture in the words of {@link NodeFacts#arch()}. */
  static String arch(String name) {
    return switch (name) {
      case "amd64", "x64" -> "x86_64";
      case "arm64" -> "aarch64";
      default -> name;
    };
  }

  private long total(GlobalMemory memory) {
    long machine = memory.getTotal();
    return group
        .flatMap(ControlGroup::memory)
        .map(limit -> Math.min(limit.limitBytes(), machine))
        .orElse(machine);
  }

  private long available(GlobalMemory memory) {
    long machine = memory.getAvailable();
    return group
        .flatMap(ControlGroup::memory)
        .map(Memory::availableBytes)
        .map(left -> Math.min(left, machine))
        .orElse(machine);
  }

  private List<Accelerator> accelerators() {
    List<Accelerator> found = new ArrayList<>(nvidia());
    if (linux) {
      List<Accelerator> rocm =
          programs
              .ask(command("rocm-smi", Accelerators.ROCM_ARGUMENTS))
              .map(Accelerators::ofRocm)
              .orElse(List.of());
      List<Accelerator> kernel = Accelerators.ofKernel(ROOT);
      found.addAll(rocm);
      kernel.stream()
          .filter(card -> rocm.isEmpty() || !card.vendor().equals("amd"))
          .forEach(found::add);
    } else {
      for (GraphicsCard card : hardware.getGraphicsCards()) {
        String vendor = Accelerators.vendor(card.getVendor() + " " + card.getName());
        if (!vendor.equals("nvidia") || found.isEmpty()) {
          // Apple's memory is the machine's own, whatever the driver calls it.
          long memory = vendor.equals("apple") ? 0 : Math.max(0, card.getVRam());
          found.add(new Accelerator(vendor, card.getName(), memory, -1));
        }
      }
    }
    return found;
  }

  private List<Accelerator> nvidia() {
    for (String program : List.of("nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi")) {
      Optional<String> csv = programs.ask(command(program, Accelerators.NVIDIA_ARGUMENTS));
      if (csv.isPresent()) {
        return Accelerators.ofNvidia(csv.get());
      }
    }
    return List.of();
  }

  private static List<String> command(String program, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(program);
    command.addAll(arguments);
    return command;
  }

  private static Optional<String> ask(List<String> command) {
    try {
      return BoundedProcess.run(command, PROGRAM_LIMIT)
          .filter(finished -> finished.exitCode() == 0)
          .map(BoundedProcess.Finished::output);
    } catch (IOException e) {
      LOG.log(
          System.Logger.Level.DEBUG, "{0} is not here: {1}", command.getFirst(), e.getMessage());
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  private String host() {
    String name = linux ? text(Path.of("/proc/sys/kernel/hostname")) : "";
    if (!name.isEmpty()) {
      return name;
    }
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "localhost";
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      return "";
    }
  }
}
