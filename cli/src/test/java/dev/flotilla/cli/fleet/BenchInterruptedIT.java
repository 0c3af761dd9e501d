package dev.flotilla.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.testkit.scripted.Gate;
import dev.flotilla.testkit.scripted.Script;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
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

  @Test
  void whilePromptsAreCountedThereIsNothingToKeepAndOneLineSaysSo(@TempDir Path folder)
      throws Exception {
    try (ScriptedEngine engine = ScriptedEngine.start()) {
      engine.always("/tokenize", Script.stallThen(Gate.closed(), Script.notFound()));
      Path page = folder.resolve("run.html");
      try (FlotillaProcess bench =
          FlotillaProcess.start(
              folder,
              Map.of(),
              "bench",
              "--url",
              engine.url(),
              "--num-prompts",
              "5",
              "--html",
              page.toString())) {
        await().atMost(LIMIT).until(() -> !engine.requests("/tokenize").isEmpty());

        assertThat(bench.stop()).isEqualTo(130);
        assertThat(bench.output())
            .isEqualTo(
                "flotilla: ended before the load began: nothing was measured and nothing was"
                    + " written\n");
        assertThat(page).doesNotExist();
      }
    }
  }

  @Test
  void aSweepThatStillCountsEndsAsSoonAndStartsNoRun(@TempDir Path folder) throws Exception {
    try (ScriptedEngine engine = ScriptedEngine.start()) {
      engine.always("/tokenize", Script.stallThen(Gate.closed(), Script.notFound()));
      try (FlotillaProcess sweep =
          FlotillaProcess.start(folder, Map.of(), "sweep", "--url", engine.url())) {
        await().atMost(LIMIT).until(() -> !engine.requests("/tokenize").isEmpty());

        assertThat(sweep.stop()).isEqualTo(130);
        assertThat(sweep.output())
            .contains("Ended before the first run that counts: there are no results.");
        assertThat(engine.chats()).isEmpty();
      }
    }
  }
}
