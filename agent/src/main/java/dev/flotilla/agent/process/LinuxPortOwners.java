package dev.flotilla.agent.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

/**
 * From {@code /proc}: the table of sockets names each by an inode, and a process's {@code fd}
 * folder has a link {@code socket:[INODE]} for each that it has open. Source: proc(5), and the
 * kernel's {@code Documentation/networking/proc_net_tcp.rst}.
 */
final class LinuxPortOwners implements PortOwners {
  private static final Path PROC = Path.of("/proc");
  private static final String LISTENS = "0A";
  private static final String LOOPBACK = "0100007F";
  private static final String ANY = "00000000";
  private static final String LOOPBACK_MAPPED = "0000000000000000FFFF00000100007F";
  private static final String ANY_6 = "00000000000000000000000000000000";

  @Override
  public Optional<List<Listener>> listeners(int port, Set<Long> likely) {
    List<String> inodes;
    try {
      inodes = inodes(table("tcp"), table("tcp6"), port);
    } catch (IOException e) {
      return Optional.empty();
    }
    List<Listener> listeners = new ArrayList<>();
    for (String inode : inodes) {
      listeners.add(new Listener(inode, owner(inode, likely)));
    }
    return Optional.of(listeners);
  }

  private static List<String> table(String name) throws IOException {
    Path file = PROC.resolve("net").resolve(name);
    // A machine without IPv6 has no table of it.
    return name.equals("tcp6") && !Files.exists(file)
        ? List.of()
        : Files.readAllLines(file, StandardCharsets.US_ASCII);
  }

  /**
   * Inodes of the sockets that a connection to 127.0.0.1 reaches: those that are bound to the
   * nearest address. Pure.
   *
   * @param tcp lines of {@code /proc/net/tcp}, its heading included
   * @param tcp6 lines of {@code /proc/net/tcp6}
   */
  static List<String> inodes(List<String> tcp, List<String> tcp6, int port) {
    Map<Integer, List<String>> byNearness = new TreeMap<>();
    List<String> lines = new ArrayList<>(tcp);
    lines.addAll(tcp6);
    String wanted = String.format("%04X", port);
    for (String line : lines) {
      // sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …
      String[] fields = line.strip().split("\\s+", 11);
      if (fields.length < 10 || !fields[3].equals(LISTENS)) {
        continue;
      }
      String[] local = fields[1].split(":", -1);
      int nearness =
          local.length == 2 && local[1].equals(wanted)
              ? List.of(LOOPBACK, LOOPBACK_MAPPED, ANY, ANY_6).indexOf(local[0])
              : -1;
      if (nearness >= 0) {
        byNearness.computeIfAbsent(nearness, near -> new ArrayList<>()).add(fields[9]);
      }
    }
    return byNearness.isEmpty() ? List.of() : List.copyOf(byNearness.values().iterator().next());
  }

  private static OptionalLong owner(String inode, Set<Long> likely) {
    Set<Long> pids = new LinkedHashSet<>(likely);
    for (long pid : pids) {
      if (has(pid, inode)) {
        return OptionalLong.of(pid);
      }
    }
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (Path process : processes) {
        long pid = Long.parseLong(process.getFileName().toString());
        if (!pids.contains(pid) && has(pid, inode)) {
          return OptionalLong.of(pid);
        }
      }
    } catch (IOException | NumberFormatException e) {
      return OptionalLong.empty();
    }
    return OptionalLong.empty();
  }

  private static boolean has(long pid, String inode) {
    String wanted = "socket:[" + inode + "]";
    try (DirectoryStream<Path> open = Files.newDirectoryStream(PROC.resolve(pid + "/fd"))) {
      for (Path each : open) {
        if (wanted.equals(target(each))) {
          return true;
        }
      }
    } catch (IOException | java.nio.file.DirectoryIteratorException e) {
      return false; // gone, or another user's
    }
    return false;
  }

  private static String target(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException e) {
      return "";
    }
  }
}
