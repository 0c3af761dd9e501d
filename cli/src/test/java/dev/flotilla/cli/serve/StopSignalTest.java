package dev.flotilla.cli.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Signals to a process that never comes to its end by itself. */
class StopSignalTest {
  private static final int TERM = 143;

  /** Shorter than a stop is waited for. */
  private static final long AT_ONCE_SECONDS = 15;

  @Test
  void aSecondOneEndsTheProcessAtOnce() throws Exception {
    Process process = start();
    try (BufferedReader said =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
      assertThat(said.readLine()).isEqualTo("serving");
      process.toHandle().destroy();
      assertThat(said.readLine()).isEqualTo("stopping");
      assertThat(process.isAlive()).isTrue();
      process.toHandle().destroy();
      assertThat(process.waitFor(AT_ONCE_SECONDS, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).isEqualTo(TERM);
    } finally {
      process.destroyForcibly();
    }
  }

  private static Process start() throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            Endless.class.getName())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /** Serves, and has no end to its stop. */
  static final class Endless {
    private Endless() {}

    public static void main(String[] arguments) throws InterruptedException {
      StopSignal signal = StopSignal.listenTwice();
      System.out.println("serving");
      signal.await();
      System.out.println("stopping");
      Thread.currentThread().join();
    }
  }
}
