package dev.flotilla.engine.start;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/** What the machine has, read from a few small files; no library has to be loaded for it. */
final class Machine {
  private static final Path PROCESSORS = Path.of("/sys/devices/system/cpu");

  private Machine() {}

  /**
   * Bytes that can be taken without anything being pushed out: on Linux the kernel's {@code
   * MemAvailable}, within what a control group leaves; elsewhere what is free.
   */
  static long availableBytes() {
    OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    long free = system.getFreeMemorySize();
    long available = kibibytes(Path.of("/proc/meminfo"), "MemAvailable:");
    long total = kibibytes(Path.of("/proc/meminfo"), "MemTotal:");
    if (available < 0) {
      return free;
    }
    // In a control group the bean speaks of the group's limit.
    return system.getTotalMemorySize() < total ? Math.min(available, free) : available;
  }

  /** Memory of this process that is not on disk alone; -1 where the system does not say. */
  static long residentBytes() {
    return kibibytes(Path.of("/proc/self/status"), "VmRSS:");
  }

  /** Cores, each counted once however many threads it runs, of those that this process may use. */
  static int physicalCores() {
    int logical = Runtime.getRuntime().availableProcessors();
    Set<String> cores = new HashSet<>();
    try (DirectoryStream<Path> processors = Files.newDirectoryStream(PROCESSORS, "cpu[0-9]*")) {
      for (Path processor : processors) {
        cores.add(Files.readString(processor.resolve("topology/thread_siblings_list")).strip());
      }
    } catch (IOException unknown) {
      return logical;
    }
    return Math.clamp(cores.size(), 1, logical);
  }

  private static long kibibytes(Path file, String key) {
    try {
      for (String line : Files.readAllLines(file, StandardCharsets.ISO_8859_1)) {
        if (line.startsWith(key)) {
          return Long.parseLong(line.substring(key.length()).replace("kB", "").strip()) << 10;
        }
      }
      return -1;
    } catch (IOException | NumberFormatException unknown) {
      return -1;
    }
  }
}
