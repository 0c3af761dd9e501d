package dev.flotilla.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The launcher as the parent of an agent that has itself replaced. It is the launcher that is
 * tested: agents are scripts of a few lines, which do at once what an agent does some day. {@code
 * $V} is {@code HOME/versions}; the launcher's own version is 0.1.0, in an unpacked release.
 */
final class AgentLauncherTest {
  /** Seconds of trial that are not over before {@link #LIMIT} is, however slow the machine. */
  private static final String LONG = "600";

  private static final Duration LIMIT = Duration.ofSeconds(40);

  /** What an agent of 0.1.0 does that was offered 0.2.0; where that failed, it stays. */
  private static final String WANTS_0_2_0 =
      """
      [ -e "$V/failed/0.2.0" ] && exit 0
      echo '0.2.0 1' > "$V/next"
      exit 75
      """;

  /**
   * What a shell starts in the background hears no INT, and hands that on; a terminal's job does.
   */
  private static final List<String> HEARS_INT =
      List.of(
          "python3",
          "-c",
          "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL);"
              + " os.execvp(sys.argv[1], sys.argv[1:])");

  @TempDir Path folder;
  private final List<Process> started = new ArrayList<>();

  @BeforeEach
  void makeRelease() throws IOException {
    Path base = Files.createDirectories(folder.resolve("base"));
    Files.copy(Path.of(System.getProperty("flotilla.root"), "flotilla"), base.resolve("flotilla"));
    executable(base.resolve("flotilla"));
    Files.createDirectories(base.resolve("lib"));
    Files.createFile(base.resolve("lib/flotilla-cli.jar"));
    Files.createFile(base.resolve("java.options"));
    Files.writeString(base.resolve("version"), "0.1.0\n");
    Path jdk = folder.resolve("jdk");
    Files.createDirectories(jdk.resolve("bin"));
    Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"25\"\n");
    script(
        jdk.resolve("bin/java"),
        "[ -e \"${1#@}\" ] || exit 9\nshift 6\nexec bash \""
            + folder.resolve("own")
            + "\" \"$@\"\n");
    Files.createDirectories(versions());
  }

  @AfterEach
  void endWhatRuns() throws IOException {
    started.forEach(Process::destroyForcibly);
    if (Files.exists(folder.resolve("pids"))) {
      Files.readAllLines(folder.resolve("pids")).stream()
          .map(Long::parseLong)
          .flatMap(pid -> ProcessHandle.of(pid).stream())
          .forEach(ProcessHandle::destroyForcibly);
    }
  }

  @Test
  void aVersionThatTheHubTakesInStaysAndIsWhatTheNextStartRuns() throws Exception {
    own(WANTS_0_2_0);
    version(
        "0.2.0",
        """
        echo 0.2.0 > "$V/accepted"
        until [ ! -e "$V/before" ]; do sleep 0.05; done
        """);

    Ended first = launch();
    assertThat(first.code()).as(first.said()).isZero();
    assertThat(first.said())
        .contains("starting version 0.2.0", "the hub took version 0.2.0 in, it stays");
    assertThat(current()).isEqualTo("0.2.0");
    assertThat(versions().resolve("before")).doesNotExist();
    assertThat(versions().resolve("next")).doesNotExist();
    assertThat(runs()).containsExactly("own", "0.2.0");

    assertThat(launch().code()).isZero();
    assertThat(runs()).containsExactly("own", "0.2.0", "0.2.0");
  }

  @Test
  void aVersionThatCrashesAtOnceIsGivenUpForTheOneBefore() throws Exception {
    own(WANTS_0_2_0);
    version("0.2.0", "exit 3\n");

    Ended ended = launch();

    assertThat(ended.code()).as(ended.said()).isZero();
    assertThat(ended.said())
        .contains(
            "version 0.2.0 is given up, going back to 0.1.0: it ended with code 3 before the hub"
                + " had taken it in");
    assertThat(failure("0.2.0"))
        .containsExactly("1", "it ended with code 3 before the hub had taken it in");
    assertThat(current()).isEqualTo("-");
    assertThat(runs()).containsExactly("own", "0.2.0", "own");
  }

  @Test
  void theOneBeforeMayBeAnUpdateItself() throws Exception {
    current("0.2.0");
    version(
        "0.2.0",
        """
        [ -e "$V/failed/0.3.0" ] && exit 0
        echo '0.3.0 2' > "$V/next"
        exit 75
        """);
    version("0.3.0", "exit 1\n");

    assertThat(launch().code()).isZero();

    assertThat(failure("0.3.0")).startsWith("2");
    assertThat(current()).isEqualTo("0.2.0");
    assertThat(runs()).containsExactly("0.2.0", "0.3.0", "0.2.0");
  }

  @Test
  void aVersionThatNeverConnectsIsStoppedAndGivenUp() throws Exception {
    own(WANTS_0_2_0);
    version("0.2.0", "exec sleep 600\n");

    Ended ended = new Call("3", List.of()).ended();

    assertThat(ended.code()).as(ended.said()).isZero();
    assertThat(failure("0.2.0")).containsExactly("1", "it had not connected to the hub within 3 s");
    assertThat(alive()).isEmpty();
    // Where the machine is busy enough the new version has not come to its first line in its time.
    assertThat(runs()).startsWith("own").endsWith("own").hasSizeBetween(2, 3);
  }

  @Test
  void aVersionThatIsNotThereIsGivenUpWithoutAStart() throws Exception {
    own(WANTS_0_2_0);
    assertThat(launch().code()).isZero();
    assertThat(failure("0.2.0")).containsExactly("1", "it is not in " + versions());
    assertThat(runs()).containsExactly("own", "own");
  }

  @Test
  void aLauncherThatIsKilledInATrialLeavesTheVersionBeforeToTheNext() throws Exception {
    own(WANTS_0_2_0);
    version("0.2.0", "kill -KILL \"$FLOTILLA_LAUNCHER\"\nexit 1\n");
    assertThat(launch().code()).isEqualTo(137);
    assertThat(current()).isEqualTo("0.2.0");

    Ended next = launch();

    assertThat(next.code()).as(next.said()).isZero();
    assertThat(failure("0.2.0"))
        .containsExactly("1", "it was stopped before the hub had taken it in");
    assertThat(current()).isEqualTo("-");
    assertThat(runs()).containsExactly("own", "0.2.0", "own");
  }

  @Test
  void aLauncherThatIsKilledWhenTheHubHadTakenItInLeavesTheNewVersion() throws Exception {
    own(WANTS_0_2_0);
    version(
        "0.2.0",
        """
        [ -e "$V/second" ] && exit 0
        : > "$V/second"
        kill -STOP "$FLOTILLA_LAUNCHER"
        echo 0.2.0 > "$V/accepted"
        kill -KILL "$FLOTILLA_LAUNCHER"
        """);
    assertThat(launch().code()).isEqualTo(137);
    assertThat(versions().resolve("before")).exists();

    Ended next = launch();

    assertThat(next.code()).as(next.said()).isZero();
    assertThat(next.said()).contains("the hub took version 0.2.0 in, it stays");
    assertThat(current()).isEqualTo("0.2.0");
    assertThat(versions().resolve("failed")).doesNotExist();
    assertThat(runs()).containsExactly("own", "0.2.0", "0.2.0");
  }

  /** Whatever a launcher had done when it was killed, and in both directions. */
  @ParameterizedTest
  @CsvSource({
    "the note is written and the link not moved, -, false",
    "the version runs, 0.2.0, false",
    "why it failed is written and the link not moved, 0.2.0, true",
    "the link is moved back and the note still there, -, true"
  })
  void eachStepOfALauncherLeadsBack(String step, String link, boolean told) throws Exception {
    own("exit 0\n");
    version("0.2.0", "exit 1\n");
    Files.writeString(versions().resolve("over"), "0.1.0\n");
    Files.writeString(versions().resolve("next"), "0.2.0 1\n");
    Files.writeString(versions().resolve("before"), "-\n999999\n");
    if (!link.equals("-")) {
      current(link);
    }
    if (told) {
      Files.createDirectories(versions().resolve("failed"));
      Files.writeString(versions().resolve("failed/0.2.0"), "1\nits own reason\n");
    }

    Ended ended = launch();

    assertThat(ended.code()).as(step + ": " + ended.said()).isZero();
    assertThat(current()).isEqualTo("-");
    assertThat(versions().resolve("before")).doesNotExist();
    assertThat(failure("0.2.0").getLast())
        .isEqualTo(told ? "its own reason" : "it was stopped before the hub had taken it in");
    assertThat(runs()).containsExactly("own");
  }

  @Test
  void whoUnpacksAnotherVersionByHandRunsThatOne() throws Exception {
    own("exit 0\n");
    version("0.2.0", "exit 1\n");
    current("0.2.0");
    Files.writeString(versions().resolve("over"), "0.0.9\n");

    Ended ended = launch();

    assertThat(ended.said()).contains("this is 0.1.0, built or unpacked since the last update");
    assertThat(current()).isEqualTo("-");
    assertThat(runs()).containsExactly("own");
  }

  @Test
  void aSecondLauncherLeavesATrialAlone() throws Exception {
    own(WANTS_0_2_0);
    version(
        "0.2.0",
        """
        until [ -e "$V/go" ]; do sleep 0.05; done
        echo 0.2.0 > "$V/accepted"
        until [ ! -e "$V/before" ]; do sleep 0.05; done
        """);
    Call first = new Call(LONG, List.of());
    await().atMost(LIMIT).until(() -> runs().contains("0.2.0"));

    Ended second = launch();

    assertThat(second.code()).isEqualTo(1);
    assertThat(second.said())
        .isEqualTo(
            "flotilla: another launcher (process %d) is about to replace the agent of %s%n"
                .formatted(first.process.pid(), folder.resolve("home")));
    Files.createFile(versions().resolve("go"));
    assertThat(first.ended().code()).isZero();
    assertThat(current()).isEqualTo("0.2.0");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3, 99})
  void itEndsAsItsAgentDoes(int code) throws Exception {
    own("exit " + code + "\n");
    assertThat(launch().code()).isEqualTo(code);
    assertThat(runs()).containsExactly("own");
  }

  @ParameterizedTest
  @CsvSource({"TERM, 143", "INT, 130"})
  void whoStopsItStopsItsAgentWhichMayTakeItsTime(String signal, int code) throws Exception {
    own(
        "trap 'sleep 0.3; echo stopped; exit 7' TERM\n: > \"$V/up\"\nwhile :; do sleep 0.05; done\n");
    Call call = new Call(LONG, HEARS_INT);
    await().atMost(LIMIT).until(() -> Files.exists(versions().resolve("up")));

    new ProcessBuilder("kill", "-" + signal, "" + call.process.pid()).start().waitFor();

    Ended ended = call.ended();
    assertThat(ended.code()).as(ended.said()).isEqualTo(code);
    assertThat(ended.said()).contains("stopped");
    assertThat(alive()).isEmpty();
  }

  @Test
  void theAgentKnowsItsLauncherAndGetsItsArgumentsWhole() throws Exception {
    own("echo \"$FLOTILLA_LAUNCHER=$PPID\"\nfor word in \"$@\"; do echo \"[$word]\"; done\n");
    Call call = new Call(LONG, List.of(), "--name", "two words");
    Ended ended = call.ended();
    assertThat(ended.said())
        .contains(call.process.pid() + "=" + call.process.pid())
        .contains("[agent]\n", "[--name]\n[two words]\n");
  }

  private Path versions() {
    return folder.resolve("home/versions");
  }

  private void own(String body) throws IOException {
    script(folder.resolve("own"), heading("own") + body);
  }

  private void version(String name, String body) throws IOException {
    Files.createDirectories(versions().resolve(name));
    script(versions().resolve(name).resolve("flotilla"), heading(name) + body);
  }

  private String heading(String name) {
    return "V=\"%s\"\necho %s >> \"%s\"\necho $$ >> \"%s\"\n"
        .formatted(versions(), name, folder.resolve("runs"), folder.resolve("pids"));
  }

  private void current(String version) throws IOException {
    Files.createSymbolicLink(versions().resolve("current"), Path.of(version));
  }

  private String current() throws IOException {
    Path link = versions().resolve("current");
    return Files.exists(link, LinkOption.NOFOLLOW_LINKS)
        ? Files.readSymbolicLink(link).toString()
        : "-";
  }

  private List<String> runs() throws IOException {
    Path runs = folder.resolve("runs");
    return Files.exists(runs) ? Files.readAllLines(runs) : List.of();
  }

  /** Agents that still run. */
  private List<Long> alive() throws IOException {
    return Files.readAllLines(folder.resolve("pids")).stream()
        .map(Long::parseLong)
        .filter(pid -> ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isPresent())
        .toList();
  }

  private List<String> failure(String version) throws IOException {
    return Files.readAllLines(versions().resolve("failed").resolve(version));
  }

  private static void script(Path file, String body) throws IOException {
    Files.writeString(file, "#!/usr/bin/env bash\n" + body);
    executable(file);
  }

  private static void executable(Path file) throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private Ended launch() throws Exception {
    return new Call(LONG, List.of()).ended();
  }

  private record Ended(int code, String said) {}

  /** The launcher, started as {@code flotilla agent --home HOME}. */
  private final class Call {
    final Process process;
    private final Path output;

    /**
     * @param wait seconds that a version has on trial
     * @param through what becomes the launcher
     * @param more arguments
     */
    Call(String wait, List<String> through, String... more) throws IOException {
      output = Files.createTempFile(folder, "launcher", ".out");
      List<String> command = new ArrayList<>(through);
      command.add(folder.resolve("base/flotilla").toString());
      command.addAll(List.of("agent", "--home", folder.resolve("home").toString()));
      command.addAll(List.of(more));
      ProcessBuilder builder =
          new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
      builder.environment().put("FLOTILLA_JAVA_HOME", folder.resolve("jdk").toString());
      builder.environment().put("FLOTILLA_UPDATE_WAIT", wait);
      process = builder.start();
      started.add(process);
    }

    Ended ended() throws Exception {
      assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS))
          .as("ended: %s", Files.readString(output))
          .isTrue();
      return new Ended(process.exitValue(), Files.readString(output));
    }
  }
}
