package dev.flotilla.testkit.real;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a test or a benchmark started ends with it, however it ends. */
class KeepTest {
  private static final int TERMINATED = 128 + 15;
  private static final long LIMIT_SECONDS = 20;

  @Test
  void theProgramEndsWithTheInput() throws Exception {
    Kept kept = Kept.start();
    kept.keeper().getOutputStream().close();
    kept.awaitEnd();
  }

  @Test
  void theProgramEndsWhenItsKeeperIsToldTo() throws Exception {
    Kept kept = Kept.start();
    kept.keeper().destroy();
    kept.awaitEnd();
  }

  private record Kept(Process keeper, ProcessHandle program) {

    static Kept start() throws IOException {
      Process keeper =
          new ProcessBuilder(
                  "python3",
                  SmallModel.script("keep.py").toString(),
                  "sh",
                  "-c",
                  "echo $$; exec sleep 600")
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      BufferedReader out = keeper.inputReader();
      long pid = Long.parseLong(out.readLine());
      return new Kept(keeper, ProcessHandle.of(pid).orElseThrow());
    }

    void awaitEnd() throws Exception {
      assertThat(keeper.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).as("the keeper ended").isTrue();
      assertThat(keeper.exitValue()).isEqualTo(TERMINATED);
      program.onExit().get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }
  }
}
