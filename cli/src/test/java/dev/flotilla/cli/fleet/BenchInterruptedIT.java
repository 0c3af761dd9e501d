package dev.flotilla.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.testkit.Gate;
import dev.flotilla.testkit.Script;
import dev.flotilla.testkit.ScriptedEngine;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ctrl-C in the middle of a run. */
class BenchInterruptedIT {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @Test
  void theResultsSoFarAreShownAndTheCodeIsThatOfCtrlC(@TempDir Path folder) throws Exception {
    try (ScriptedEngine engine = ScriptedEngine.start()) {
      engine.whenChat(Script.answer("a"), Script.answer("b"), Script.answer("c"));
      engine.alwaysChat(Script.answer("d").stallBeforeFirstByte(Gate.closed()));
      try (FlotillaProcess bench =
          FlotillaProcess.startOnTerminal(
              folder,
              "bench",
              "--url",
              engine.url(),
              "--num-prompts",
              "50",
              "--input-len",
              "4",
              "--max-concurrency",
              "2")) {
        await().atMost(LIMIT).until(() -> engine.chats().size() == 5 && engine.inFlight() == 2);
        bench.pressCtrlC();

        assertThat(bench.exitCode(LIMIT)).isEqualTo(130);
        assertThat(bench.output())
            .contains("Successful requests:                     3 ")
            .contains("WARNING: The run was ended after 3 of 50 requests");
      }
    }
  }
}
