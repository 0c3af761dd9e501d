package dev.flotilla.agent.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import oshi.SystemInfo;
import oshi.software.os.OSProcess;

/** What the operating system says of a process. */
final class ProcessFacts {
  private static final Path PROC = Path.of("/proc");

  private ProcessFacts() {}

  /**
   * A word that no other process of this machine ever has beside the same id: ids are used again,
   * starts are not. Empty where the process is gone or hidden.
   */
  static Optional<String> identity(long pid) {
    try {
      String stat = Files.readString(PROC.resolve(pid + "/stat"), StandardCharsets.ISO_8859_1);
      // The name in parentheses may hold anything; the 22nd field is the 20th behind it.
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      String boot = Files.readString(PROC.resolve("sys/kernel/random/boot_id")).strip();
      return fields[0].equals("Z") ? Optional.empty() : Optional.of(boot + ":" + fields[19]);
    } catch (IOException e) {
      return Files.isDirectory(PROC.resolve("self"))
          ? Optional.empty()
          : ProcessHandle.of(pid)
              .flatMap(handle -> handle.info().startInstant())
              .map(Object::toString);
    }
  }

  /** The folder that it runs in, also one that was removed since; empty where unknown. */
  static Optional<Path> workingFolder(long pid) {
    try {
      String link = Files.readSymbolicLink(PROC.resolve(pid + "/cwd")).toString();
      return Optional.of(Path.of(link.replaceFirst(" \\(deleted\\)$", "")));
    } catch (IOException e) {
      if (Files.isDirectory(PROC.resolve("self"))) {
        return Optional.empty();
      }
      OSProcess process = new SystemInfo().getOperatingSystem().getProcess((int) pid);
      return process == null || process.getCurrentWorkingDirectory().isEmpty()
          ? Optional.empty()
          : Optional.of(Path.of(process.getCurrentWorkingDirectory()));
    }
  }

  /** The words that it was started with, as it shows them; empty where unknown. */
  static List<String> commandLine(long pid) {
    try {
      String words = Files.readString(PROC.resolve(pid + "/cmdline"), StandardCharsets.ISO_8859_1);
      return List.of(words.split("\0"));
    } catch (IOException e) {
      if (Files.isDirectory(PROC.resolve("self"))) {
        return List.of();
      }
      OSProcess process = new SystemInfo().getOperatingSystem().getProcess((int) pid);
      return process == null ? List.of() : process.getArguments();
    }
  }

  /** The group that it is in, as its leader's process id; 0 where unknown. */
  static long group(long pid) {
    try {
      String stat = Files.readString(PROC.resolve(pid + "/stat"), StandardCharsets.ISO_8859_1);
      // Behind the name: state, parent, group.
      return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ", 4)[2]);
    } catch (IOException | NumberFormatException e) {
      return 0;
    }
  }

  /** Resident memory in bytes, 0 where unknown. */
  static long residentBytes(long pid) {
    long linux = statusBytes(pid, "VmRSS:");
    return linux >= 0 ? linux : otherResidentBytes(pid);
  }

  /**
   * Memory that the process has taken for itself, which no file gives back: on Linux without mapped
   * files, since the system counts those pages as available.
   */
  static long touchedBytes(long pid) {
    long anonymous = statusBytes(pid, "RssAnon:");
    return anonymous >= 0 ? anonymous : otherResidentBytes(pid);
  }

  private static long statusBytes(long pid, String key) {
    try {
      for (String line :
          Files.readAllLines(PROC.resolve(pid + "/status"), StandardCharsets.ISO_8859_1)) {
        if (line.startsWith(key)) {
          return Long.parseLong(line.substring(key.length()).replace("kB", "").strip()) << 10;
        }
      }
      return 0;
    } catch (IOException e) {
      return Files.isDirectory(PROC.resolve("self")) ? 0 : -1;
    }
  }

  private static long otherResidentBytes(long pid) {
    OSProcess process = new SystemInfo().getOperatingSystem().getProcess((int) pid);
    return process == null ? 0 : process.getResidentMemory();
  }
}
