package dev.flotilla.cli.bench;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.cli.TestShell;
import dev.flotilla.testkit.real.Needs;
import dev.flotilla.testkit.scripted.Answer;
import dev.flotilla.testkit.scripted.Script;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a user sees of sweeps, arms and engines, on servers that answer as they are told. */
final class ExperimentCommandsTest {
  private static final String[] SMALL = {
    "--num-prompts",
    "4",
    "--input-len",
    "4",
    "--output-len",
    "3",
    "--repeats",
    "1",
    "--num-warmups",
    "1",
    "--no-progress"
  };

  private final ScriptedEngine engine =
      ScriptedEngine.start().slots(4).alwaysChat(Script.answer("one ", "two ", "three"));
  private final TestShell shell = TestShell.piped();

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void aSweepPrintsItsLevelsAndIsKeptInEachForm(@TempDir Path folder) throws Exception {
    Path json = folder.resolve("sweep.json");
    int code =
        small(
            "sweep",
            "--url",
            engine.url(),
            "--levels",
            "1,2",
            "--json",
            json.toString(),
            "--html",
            folder.resolve("sweep.html").toString(),
            "--png",
            folder.resolve("sweep.png").toString());
    assertThat(code).as(shell.err()).isIn(0, 1);
    assertThat(shell.out())
        .contains("Sweep of scripted at " + engine.url() + "/v1, random")
        .containsPattern("(?m)^concurrency +out tok/s +vs c=1")
        .containsPattern("(?m)^1 .* 0$")
        .containsPattern("(?m)^2 .* 0$")
        .contains("Knee ");
    assertThat(shell.err()).contains("first run (left out)").contains("[3/3]");
    assertThat(Files.readString(folder.resolve("sweep.html"), UTF_8)).startsWith("<!doctype html>");
    assertThat(Files.size(folder.resolve("sweep.png"))).isGreaterThan(1000);

    TestShell later = TestShell.piped();
    assertThat(later.run("sweep", "--compare", json.toString(), json.toString()))
        .as(later.err())
        .isZero();
    assertThat(later.out())
        .contains("output throughput (tok/s)")
        .contains("1 and 1 runs are too few to tell");
  }

  @Test
  void twoSavedSweepsAreComparedOnAPageOfTheirOwn(@TempDir Path folder) throws Exception {
    Path json = folder.resolve("sweep.json");
    small("sweep", "--url", engine.url(), "--levels", "1,2", "--json", json.toString());
    Path page = folder.resolve("compared.html");
    Path lines = folder.resolve("compared.json");
    Path picture = folder.resolve("compared.png");

    TestShell later = TestShell.piped();
    assertThat(
            later.run(
                "sweep",
                "--compare",
                json.toString(),
                json.toString(),
                "--html",
                page.toString(),
                "--json",
                lines.toString(),
                "--png",
                picture.toString()))
        .as(later.err())
        .isZero();

    assertThat(later.err()).contains("the report is in " + page);
    assertThat(Files.readString(page, UTF_8))
        .startsWith("<!doctype html>")
        .contains("Comparison of sweeps of scripted");
    assertThat(JsonMapper.shared().readTree(lines.toFile()).at("/levels/1/concurrency").asInt())
        .isEqualTo(2);
    assertThat(Files.size(picture)).isGreaterThan(1000);
    assertThat(later.run("sweep", "--compare", json.toString(), json.toString(), "--html", "no/x"))
        .isEqualTo(2);
  }

  @Test
  void theAskedPromptsAreWrittenForSiliconBench(@TempDir Path folder) throws Exception {
    Path prompts = folder.resolve("prompts.json");

    small(
        "bench",
        "engines",
        "--levels",
        "1",
        "--engine",
        "there=" + engine.url(),
        "--siliconbench",
        prompts.toString());

    assertThat(shell.err()).contains("the prompts are in " + prompts);
    JsonNode written = JsonMapper.shared().readTree(prompts.toFile());
    assertThat(written.size()).isEqualTo(4);
    assertThat(written.at("/0/max_tokens").asInt()).isEqualTo(3);
    assertThat(written.at("/0/messages/0/role").asString()).isEqualTo("user");
    TestShell again = TestShell.piped();
    again.run(
        "bench", "--url", engine.url(), "--dataset", "file", "--dataset-path", prompts.toString());
    assertThat(again.out()).contains("Successful requests:                     4 ");
  }

  @Test
  void levelsAreNamedAsTheyWereTyped() {
    assertThat(small("sweep", "--url", engine.url(), "--concurrencies", "0")).isEqualTo(2);
    assertThat(shell.err()).startsWith("flotilla: --concurrencies: '0' is no concurrency");
  }

  @Test
  void aFolderThatIsNotThereIsRefusedBeforeTheLoad(@TempDir Path folder) {
    String file = folder.resolve("none").resolve("x").toString();
    for (String[] command :
        new String[][] {
          {"sweep", "--url", engine.url()},
          {"bench", "arms", "--a", engine.url(), "--b", engine.url()},
          {"bench", "engines", "--engine", "there=" + engine.url()}
        }) {
      int code =
          small(
              Stream.concat(Stream.of(command), Stream.of("--html", file)).toArray(String[]::new));
      assertThat(code).as(String.join(" ", command)).isEqualTo(2);
    }
    assertThat(shell.err()).contains("--html: there is no folder " + folder.resolve("none"));
    assertThat(folder.resolve("none")).doesNotExist();
    assertThat(engine.requests()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "1000000", "1,two"})
  void levelsThatCantBeMeantAreWrongUsage(String levels) {
    assertThat(small("sweep", "--url", engine.url(), "--levels=" + levels)).isEqualTo(2);
    assertThat(shell.err().lines().findFirst().orElseThrow())
        .startsWith("flotilla: --levels: ")
        .contains("is no concurrency; one is a whole number from 1 to 10,000");
    assertThat(engine.chats()).isEmpty();
  }

  @Test
  void aServerThatDiesInTheMiddleLeavesTheLevelsBeforeIt() {
    AtomicInteger seen = new AtomicInteger();
    // Warm-ups and requests: 5 of the run that is left out, 5 of concurrency 1, some of 2.
    engine.alwaysChat(exchange -> {
      if (seen.incrementAndGet() == 13) {
        engine.close();
      }
      Script.answer("one ", "two ", "three").play(exchange);
    });
    assertThat(small("sweep", "--url", engine.url(), "--levels", "1,2,4")).isEqualTo(1);
    assertThat(shell.out())
        .containsPattern("(?m)^1 .* 0$")
        .contains("WARNING: The sweep was ended after 2 of 3 runs: ")
        .contains("nothing listens on 127.0.0.1:" + engine.port());
  }

  @Test
  void repeatsThatContradictEachOtherAreToldAndGiveNoKnee() {
    AtomicInteger seen = new AtomicInteger();
    // The run that is left out, concurrency 1 and 2, then 2 and 1 again: the second of 2 is slow.
    engine.alwaysChat(exchange -> {
      boolean slow = seen.incrementAndGet() > 12 && seen.get() <= 16;
      Answer answer = Script.answer("one ", "two ", "three");
      (slow ? answer.gap(Duration.ofMillis(400)) : answer.gap(Duration.ofMillis(5))).play(exchange);
    });

    int code =
        shell.run(
            "sweep",
            "--url",
            engine.url(),
            "--levels",
            "1,2",
            "--num-prompts",
            "4",
            "--input-len",
            "4",
            "--output-len",
            "3",
            "--repeats",
            "2",
            "--num-warmups",
            "0",
            "--no-progress");

    assertThat(code).as(shell.err()).isEqualTo(1);
    assertThat(shell.out())
        .containsPattern(
            "WARNING: concurrency 2: 2 runs of the same load contradict each other: from \\d+\\.\\d"
                + " to \\d+\\.\\d tok/s, a factor of \\d+\\.\\d\\. Their median is no figure of the"
                + " server\\.")
        .contains("Knee not known: runs contradict each other at concurrency 2");
  }

  @Test
  void aServerThatIsNotThereIsOneLine() {
    engine.close();
    assertThat(small("sweep", "--url", engine.url(), "--levels", "1")).isEqualTo(1);
    assertThat(shell.err()).contains("nothing listens on 127.0.0.1:" + engine.port());
    assertThat(shell.out()).isEmpty();
  }

  @Test
  void aDiskThatIsFullLosesNoneOfWhatWasMeasured() {
    Needs.that(Files.exists(Path.of("/dev/full")), "a disk that is always full (Linux)");
    assertThat(
            small(
                "sweep",
                "--url",
                engine.url(),
                "--levels",
                "1",
                "--json",
                "/dev/full",
                "--html",
                "/dev/full"))
        .isEqualTo(1);
    assertThat(shell.out()).containsPattern("(?m)^1 .* 0$");
    assertThat(shell.err()).contains("/dev/full: nothing was written: No space left on device");
  }

  @Test
  void withoutAnAddressTheHubIsMeasured() {
    TestShell asked = TestShell.piped().with("FLOTILLA_HUB", engine.url());
    int code =
        asked.run(
            Stream.concat(Stream.of("sweep", "--levels", "1"), Stream.of(SMALL))
                .toArray(String[]::new));
    assertThat(code).as(asked.err()).isIn(0, 1);
    assertThat(asked.out()).contains("Sweep of scripted at " + engine.url() + "/v1, random");
  }

  @Test
  void anAnswerHasAtLeastOneToken() {
    assertThat(shell.run("bench", "--url", engine.url(), "--output-len", "0")).isEqualTo(2);
    assertThat(engine.chats()).isEmpty();
  }

  @Test
  void aLevelThatItsRequestsCantFillIsWrongUsage() {
    assertThat(small("sweep", "--url", engine.url(), "--levels", "1,8")).isEqualTo(2);
    assertThat(shell.err())
        .startsWith(
            "flotilla: --num-prompts 4 are too few for concurrency 8: each level needs at least as"
                + " many");
  }

  @Test
  void armsByTheirAddressesAreComparedWithTheFirst(@TempDir Path folder) {
    try (ScriptedEngine other = ScriptedEngine.start().slots(4)) {
      other.alwaysChat(Script.answer("one ", "two ", "three"));
      int code =
          small(
              "bench",
              "arms",
              "--a",
              engine.url(),
              "--b",
              other.url(),
              "--max-concurrency",
              "2",
              "--html",
              folder.resolve("arms.html").toString());
      assertThat(code).as(shell.err()).isIn(0, 1);
      assertThat(shell.out())
          .contains("Arms: scripted, random 4 in 3 out, 4 requests, 2 at once")
          .containsPattern("(?m)^A: one worker .* 1\\.00× ")
          .containsPattern("(?m)^B: both machines ")
          .containsPattern("B \\(both machines\\) gives \\d+\\.\\d\\d × the throughput of A");
      assertThat(folder.resolve("arms.html")).exists();
      assertThat(other.chats()).as("a run left out, a run, a warm-up each").hasSize(10);
    }
  }

  @Test
  void oneArmAloneSaysNothing() {
    assertThat(small("bench", "arms", "--a", engine.url())).isEqualTo(2);
    assertThat(shell.err()).startsWith("flotilla: one arm alone says nothing");
  }

  @Test
  void anEngineThatNeverGetsReadyIsAColumnThatSaysSo() {
    assertThat(
            small(
                "bench",
                "engines",
                "--levels",
                "1",
                "--ready-timeout",
                "1",
                "--engine",
                "there=" + engine.url(),
                "--engine",
                "never=sh -c 'exec sleep 600' {port}"))
        .isEqualTo(1);
    assertThat(shell.out())
        .containsPattern("(?m)^Metric +there +never$")
        .containsPattern("(?m)^Successful / Failed +4 / 0 +CRASHED$")
        .contains("WARNING: never was not ready within 1 s (no answer on port ");
    assertThat(ProcessHandle.current().descendants())
        .noneMatch(child -> child.info().commandLine().orElse("").contains("sleep 600"));
  }

  @Test
  void anEngineThatEndsAtOnceIsToldWithItsLastWords() {
    assertThat(
            small(
                "bench",
                "engines",
                "--levels",
                "1",
                "--engine",
                "ends=sh -c 'echo no such model; exit 3' {port}"))
        .isEqualTo(1);
    assertThat(shell.out())
        .contains(
            "WARNING: ends did not start: it ended with exit code 3; its last words: no such"
                + " model.");
  }

  @Test
  void conversationsFitTheContextThatEnginesAreStartedWithThoughNoneSaysWhatItHas() {
    assertThat(
            small(
                "bench",
                "engines",
                "--levels",
                "1",
                "--dataset",
                "agent",
                "--context",
                "64",
                "--engine",
                "there=" + engine.url(),
                "--engine",
                "ends=sh -c 'exit 3' {port}"))
        .isEqualTo(2);
    assertThat(shell.err())
        .contains("conversations need a context of at least ")
        .contains("not 64");
    assertThat(engine.chats()).as("none was longer than that").isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"mine=serve --port 80", "vllm", "two words=x {port}"})
  void enginesThatCantBeMeantAreWrongUsage(String text) {
    assertThat(small("bench", "engines", "--engine", text)).isEqualTo(2);
    assertThat(shell.err()).startsWith("flotilla: --engine '" + text + "': ");
  }

  private int small(String... arguments) {
    return shell.run(Stream.concat(Stream.of(arguments), Stream.of(SMALL)).toArray(String[]::new));
  }
}
