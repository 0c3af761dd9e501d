package dev.flotilla.agent.node;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Runs a program of the machine to ask it something, with a limit on its time and on what it says.
 * Such a program may be missing, hang in a broken driver, or start others that outlive it.
 */
public final class BoundedProcess {
  private static final int OUTPUT_BYTES_MAX = 4 << 20;
  private static final Duration PIPES_LEFT_OPEN = Duration.ofSeconds(2);

  private BoundedProcess() {}

  /** What a program said until it ended; at most 4 MiB of each. */
  public record Finished(int exitCode, String output, String errors) {}

  /**
   * Runs the program to its end; empty where it was ended for taking longer than {@code limit}.
   *
   * @throws IOException where it can't be started
   */
  public static Optional<Finished> run(List<String> command, Duration limit)
      throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).start();
    try {
      process.getOutputStream().close();
      Drain output = Drain.of(process.getInputStream());
      Drain errors = Drain.of(process.getErrorStream());
      if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        return Optional.empty();
      }
      return Optional.of(new Finished(process.exitValue(), output.text(), errors.text()));
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  /** Reads a pipe beside the waiting, so that the program never blocks on a full one. */
  private static final class Drain {
    private final Thread reader;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    private Drain(InputStream pipe) {
      reader = Thread.ofVirtual().name("process-output").unstarted(() -> readAll(pipe));
    }

    static Drain of(InputStream pipe) {
      Drain drain = new Drain(pipe);
      drain.reader.start();
      return drain;
    }

    String text() throws InterruptedException {
      reader.join(PIPES_LEFT_OPEN);
      return bytes.toString(StandardCharsets.UTF_8);
    }

    private void readAll(InputStream pipe) {
      byte[] buffer = new byte[8192];
      try (pipe) {
        for (int count; (count = pipe.read(buffer)) >= 0; ) {
          if (bytes.size() + count <= OUTPUT_BYTES_MAX) {
            bytes.write(buffer, 0, count);
          }
        }
      } catch (IOException e) {
        System.getLogger(BoundedProcess.class.getName())
            .log(System.Logger.Level.DEBUG, "A program''s output ended: {0}", e.getMessage());
      }
    }
  }
}
