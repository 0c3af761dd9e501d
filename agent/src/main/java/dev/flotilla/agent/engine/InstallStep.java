package dev.flotilla.agent.engine;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * One program of an installation: runs to its end or its limit, and what it said last is kept. Ends
 * with the thread that waits for it.
 */
final class InstallStep {
  private static final int LINES_KEPT = 6;
  private static final int LINE_CHARS_MAX = 400;
  private static final Duration LOOK_EVERY = Duration.ofMillis(500);

  private final Process process;
  private final Thread reader;
  private final Deque<String> lines = new ArrayDeque<>();

  private InstallStep(Process process) {
    this.process = process;
    this.reader = Thread.ofVirtual().name("install-output").unstarted(this::read);
  }

  /**
   * Starts the program.
   *
   * @param temporary where it may put what it needs only while it runs
   */
  static InstallStep start(List<String> command, Path temporary) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("TMPDIR", temporary.toString());
    Process process = builder.start();
    process.getOutputStream().close();
    InstallStep step = new InstallStep(process);
    step.reader.start();
    return step;
  }

  /**
   * Waits for the end and gives the exit code, -1 for a program that was ended for taking too long.
   *
   * @param looked told every half second that it still runs
   */
  int await(Duration limit, Consumer<Duration> looked) throws InterruptedException {
    long start = System.nanoTime();
    try {
      while (!process.waitFor(LOOK_EVERY.toMillis(), TimeUnit.MILLISECONDS)) {
        Duration ran = Duration.ofNanos(System.nanoTime() - start);
        if (ran.compareTo(limit) > 0) {
          keep("it was ended after " + limit.toMinutes() + " minutes");
          return -1;
        }
        looked.accept(ran);
      }
      reader.join(Duration.ofSeconds(2));
      return process.exitValue();
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  /** The last lines, on one. */
  String lastLines() {
    synchronized (lines) {
      return lines.isEmpty() ? "it said nothing" : String.join(" / ", lines);
    }
  }

  private void read() {
    try (BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line; (line = reader.readLine()) != null; ) {
        if (!line.isBlank()) {
          keep(line.strip().replaceAll("\\p{Cntrl}", "?"));
        }
      }
    } catch (IOException e) {
      keep("its output ended: " + e.getMessage());
    }
  }

  private void keep(String line) {
    synchronized (lines) {
      lines.addLast(line.substring(0, Math.min(line.length(), LINE_CHARS_MAX)));
      if (lines.size() > LINES_KEPT) {
        lines.removeFirst();
      }
    }
  }

  /** Bytes of all files under a folder that others are writing. */
  static long bytesUnder(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.mapToLong(InstallStep::bytes).sum();
    } catch (IOException | UncheckedIOException e) {
      return 0;
    }
  }

  private static long bytes(Path file) {
    try {
      return Files.isRegularFile(file) ? Files.size(file) : 0;
    } catch (IOException e) {
      return 0;
    }
  }
}
