package dev.flotilla.agent.node;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The memory limit of the Linux control group that this process is in, version 2 or 1: what a
 * container or a systemd unit may use, whatever the machine has.
 *
 * <p>A limit may stand on any group from the process's own up to the root, and the tightest counts.
 * Memory that only caches files and was not used lately ({@code inactive_file}) is given back by
 * the kernel before a limit hurts, so it counts as available here, as it does for a whole machine.
 *
 * <p>Source: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst of Linux.
 */
final class ControlGroup {

  /**
   * @param limitBytes the tightest limit
   * @param availableBytes what is left of the limit that is nearest to its end
   */
  record Memory(long limitBytes, long availableBytes) {}

  /** Version 1 writes "no limit" as a huge number of whole pages. */
  private static final long NO_LIMIT = 1L << 60;

  private final List<Path> groups;
  private final String limitFile;
  private final String usageFile;
  private final String inactiveKey;

  private ControlGroup(List<Path> groups, boolean second) {
    this.groups = List.copyOf(groups);
    this.limitFile = second ? "memory.max" : "memory.limit_in_bytes";
    this.usageFile = second ? "memory.current" : "memory.usage_in_bytes";
    this.inactiveKey = second ? "inactive_file " : "total_inactive_file ";
  }

  /**
   * @param root {@code /} but for tests
   */
  static Optional<ControlGroup> find(Path root) {
    List<String> lines;
    try {
      lines = Files.readAllLines(root.resolve("proc/self/cgroup"));
    } catch (IOException e) {
      return Optional.empty();
    }
    Path mount = root.resolve("sys/fs/cgroup");
    for (String line : lines) {
      String[] parts = line.split(":", 3);
      if (parts.length == 3 && List.of(parts[1].split(",")).contains("memory")) {
        return Optional.of(new ControlGroup(upwards(mount.resolve("memory"), parts[2]), false));
      }
    }
    for (String line : lines) {
      if (line.startsWith("0::")) {
        return Optional.of(new ControlGroup(upwards(mount, line.substring(3)), true));
      }
    }
    return Optional.empty();
  }

  /** The limit at this moment; empty where there is none. Reads a few small files. */
  Optional<Memory> memory() {
    long limit = Long.MAX_VALUE;
    long available = Long.MAX_VALUE;
    for (Path group : groups) {
      long groupLimit = number(group.resolve(limitFile));
      if (groupLimit <= 0 || groupLimit >= NO_LIMIT) {
        continue;
      }
      long usage = Math.max(0, number(group.resolve(usageFile)));
      long inactive = Math.max(0, stat(group.resolve("memory.stat")));
      limit = Math.min(limit, groupLimit);
      available = Math.min(available, Math.max(0, groupLimit - Math.max(0, usage - inactive)));
    }
    return limit == Long.MAX_VALUE ? Optional.empty() : Optional.of(new Memory(limit, available));
  }

  private static List<Path> upwards(Path mount, String path) {
    List<Path> groups = new ArrayList<>();
    Path group = mount.resolve(path.replaceFirst("^/+", "")).normalize();
    while (group != null && group.startsWith(mount)) {
      groups.add(group);
      group = group.getParent();
    }
    return groups;
  }

  /** -1 where there is no number. */
  private static long number(Path file) {
    try {
      String text = Files.readString(file).strip();
      return text.matches("\\d{1,19}") ? Long.parseUnsignedLong(text) : -1;
    } catch (IOException | NumberFormatException e) {
      return -1;
    }
  }

  private long stat(Path file) {
    try {
      for (String line : Files.readAllLines(file)) {
        if (line.startsWith(inactiveKey)) {
          return Long.parseLong(line.substring(inactiveKey.length()).strip());
        }
      }
      return 0;
    } catch (IOException | NumberFormatException e) {
      return 0;
    }
  }
}
