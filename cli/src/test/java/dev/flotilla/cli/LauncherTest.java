package dev.flotilla.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The launcher {@code ./flotilla} as a process of its own, in a source tree of a few files. JDK and
 * Maven are scripts that write down what they were asked: it is the launcher that is tested. Where
 * it looks for JDKs by absolute paths, the copy here looks below the test's folder.
 */
final class LauncherTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final List<String> TOOLS =
      List.of(
          "bash",
          "env",
          "dirname",
          "readlink",
          "cat",
          "find",
          "head",
          "mkdir",
          "rm",
          "touch",
          "tee",
          "sed",
          "grep",
          "awk",
          "sleep",
          "uname",
          "cut",
          "stty");

  @TempDir Path folder;
  private final List<Process> started = new ArrayList<>();

  @BeforeEach
  void makeTree() throws IOException {
    String launcher =
        Files.readString(Path.of(System.getProperty("flotilla.root"), "flotilla"))
            .replaceAll("(?m)(?<=^| |\\[ -x )/(usr|opt|home|Library)/", folder + "/root/$1/");
    script(tree().resolve("flotilla"), launcher.substring(launcher.indexOf('\n') + 1));
    Files.createDirectories(tree().resolve("cli/src/main"));
    Files.createDirectories(tree().resolve("build"));
    for (String file : List.of("pom.xml", "cli/pom.xml", "cli/java.options", "cli/src/main/A")) {
      aged(Files.writeString(tree().resolve(file), "an old source"));
    }
    for (String directory : List.of("build", "cli/src/main")) {
      aged(tree().resolve(directory));
    }
    Files.createDirectories(folder.resolve("bin"));
    for (String tool : TOOLS) {
      script(
          folder.resolve("bin").resolve(tool), "/bin/sh", "exec '" + onPath(tool) + "' \"$@\"\n");
    }
    jdk("25.0.1", folder.resolve("root/usr/lib/jvm/some-25"));
    script(
        folder.resolve("bin/mvn"),
        """
        echo "$*" >> "$CALLS"
        echo '[INFO] Building flotilla-cli 0.1 [1/1]'
        while [ -n "${MVN_WAITS:-}" ] && [ ! -e "$MVN_WAITS" ]; do sleep 0.05; done
        if [ -e "$BROKEN" ]; then
          echo '[ERROR] A.java:[3,7] cannot find symbol'
          echo '[ERROR] -> [Help 1]'
          exit 1
        fi
        mkdir -p cli/target/lib && : > cli/target/lib/flotilla-cli.jar && : > cli/target/built
        """);
  }

  @AfterEach
  void endWhatRuns() {
    started.forEach(Process::destroyForcibly);
  }

  @Test
  void aFirstStartBuildsAndASecondDoesNot() throws Exception {
    Ended first = launch("get", "workers");
    assertThat(first.code()).as(first.err()).isZero();
    assertThat(first.err())
        .contains(
            "building, because it was not built yet", "building 1/1 flotilla-cli", "built in");
    assertThat(first.out()).contains("dev.flotilla.cli.Main get workers");
    assertThat(builds()).containsExactly("-B -pl cli -am package -Dmaven.test.skip=true");

    Ended second = launch("get", "nodes");
    assertThat(second.err()).isEmpty();
    assertThat(second.out()).contains("dev.flotilla.cli.Main get nodes");
    assertThat(builds()).hasSize(1);
  }

  @Test
  void onlyTheEngineGetsTheEnginesJvm() throws Exception {
    String options = "agent/src/main/resources/dev/flotilla/agent/engine/builtin.options";

    assertThat(launch("serve", "m.gguf").out()).contains(options).doesNotContain("java.options");
    assertThat(launch("up").out()).contains("cli/java.options").doesNotContain("builtin.options");
  }

  @Test
  void anUnpackedReleaseHasBothJvmsOptionsBesideItAndBuildsNothing() throws Exception {
    Path release = Files.createDirectories(folder.resolve("release"));
    Files.createDirectories(release.resolve("lib"));
    Files.createFile(release.resolve("lib/flotilla-cli.jar"));
    Files.writeString(release.resolve("version"), "0.2.0\n");
    Files.copy(
        tree().resolve("flotilla"),
        release.resolve("flotilla"),
        StandardCopyOption.COPY_ATTRIBUTES);

    Ended engine = new FlotillaCall(release.resolve("flotilla"), "serve", "m.gguf").ended();
    Ended up = new FlotillaCall(release.resolve("flotilla"), "up").ended();

    assertThat(engine.out())
        .contains("/release/builtin.options] ", "[serve] [m.gguf] ")
        .doesNotContain("java.options");
    assertThat(up.out())
        .contains("/release/java.options] ", "[up] ")
        .doesNotContain("builtin.options");
    assertThat(builds()).isEmpty();
  }

  @Test
  void aChangedSourceIsBuiltUnlessTheUserSaysNot() throws Exception {
    launch("get", "workers");
    aged(tree().resolve("cli/target/built"));
    Files.writeString(tree().resolve("cli/src/main/A"), "changed");

    FlotillaCall still = call("get", "workers");
    still.environment("FLOTILLA_NO_BUILD", "1");
    assertThat(still.ended().err()).isEmpty();
    assertThat(builds()).hasSize(1);

    assertThat(launch("get", "workers").err()).contains("building, because sources changed");
    assertThat(builds()).hasSize(2);
    assertThat(launch("get", "workers").err()).isEmpty();
  }

  @Test
  void twoAtOnceBuildOnce() throws Exception {
    Path go = folder.resolve("go");
    FlotillaCall first = call("get", "workers");
    first.environment("MVN_WAITS", go.toString()).start();
    await().atMost(LIMIT).until(() -> !builds().isEmpty());
    FlotillaCall second = call("get", "nodes").start();
    await()
        .atMost(LIMIT)
        .until(() ->
            second.saidSoFar().contains("another build is running (pid ")
                && second.saidSoFar().contains("waiting for it"));

    Files.createFile(go);

    assertThat(first.ended().code()).isZero();
    assertThat(second.ended().code()).isZero();
    assertThat(second.ended().out()).contains("get nodes");
    assertThat(builds()).hasSize(1);
    assertThat(tree().resolve(".flotilla-build/lock")).doesNotExist();
  }

  @Test
  void theLockOfABuilderThatDiedIsTakenOver() throws Exception {
    Process dead = new ProcessBuilder("true").start();
    dead.waitFor();
    Path lock = Files.createDirectories(tree().resolve(".flotilla-build/lock"));
    Files.writeString(lock.resolve("pid"), dead.pid() + "\n");

    Ended ended = launch("get", "workers");

    assertThat(ended.code()).as(ended.err()).isZero();
    assertThat(ended.err()).doesNotContain("another build");
  }

  @Test
  void aBuildThatFailsSaysWhatAndWhereAndStartsNothing() throws Exception {
    Files.createFile(folder.resolve("broken"));

    Ended failed = launch("up");

    assertThat(failed.code()).isEqualTo(1);
    assertThat(failed.out()).isEmpty();
    assertThat(failed.err())
        .contains("[ERROR] A.java:[3,7] cannot find symbol")
        .doesNotContain("[Help 1]")
        .endsWith(
            "flotilla: the build failed; the whole of it is in "
                + tree().resolve(".flotilla-build/build.log")
                + "\n");
    Files.delete(folder.resolve("broken"));
    assertThat(launch("up").code()).as("and the next one tries again").isZero();
  }

  @Test
  void withoutMavenOneLineSaysHowToGetIt() throws Exception {
    Files.delete(folder.resolve("bin/mvn"));

    Ended ended = launch("up");

    assertThat(ended.code()).isEqualTo(1);
    assertThat(ended.err())
        .startsWith("flotilla: Maven is needed to build, get it with: macOS 'brew install maven'")
        .hasLineCount(1);
  }

  @Test
  void withoutAJdk25OneLineSaysHowToGetIt() throws Exception {
    jdk("21.0.9", folder.resolve("root/usr/lib/jvm/some-25"));

    Ended ended = launch("up");

    assertThat(ended.code()).isEqualTo(1);
    assertThat(ended.err())
        .startsWith("flotilla: JDK 25 is needed and was not found: ")
        .endsWith(". If you have it: FLOTILLA_JAVA_HOME=/its/folder\n")
        .hasLineCount(1);
    assertThat(builds()).isEmpty();
  }

  @Test
  void theJdkThatIsNamedIsTakenAndMustBeOne() throws Exception {
    Path named = jdk("25", folder.resolve("my jdk"));
    FlotillaCall right = call("get", "workers");
    right.environment("FLOTILLA_JAVA_HOME", named.toString());
    assertThat(right.ended().out()).startsWith(named + "/bin/java ");

    Path old = jdk("17.0.2", folder.resolve("old"));
    FlotillaCall wrong = call("get", "workers");
    wrong.environment("FLOTILLA_JAVA_HOME", old.toString());
    assertThat(wrong.ended().code()).isEqualTo(1);
    assertThat(wrong.ended().err())
        .isEqualTo("flotilla: FLOTILLA_JAVA_HOME=" + old + " is not a JDK 25\n");
  }

  @Test
  void aJreAloneCanRunWhatIsBuiltButNotBuild() throws Exception {
    launch("get", "workers");
    Files.delete(folder.resolve("root/usr/lib/jvm/some-25/bin/javac"));
    assertThat(launch("get", "workers").code()).isZero();

    Files.writeString(tree().resolve("cli/src/main/A"), "changed");
    aged(tree().resolve("cli/target/built"));
    Ended ended = launch("get", "workers");
    assertThat(ended.code()).isEqualTo(1);
    assertThat(ended.err()).contains("can run Java but not compile it: ");
  }

  @Test
  void itIsFoundThroughALinkAndItsArgumentsArriveWhole() throws Exception {
    Path link =
        Files.createSymbolicLink(folder.resolve("bin/flotilla"), tree().resolve("flotilla"));
    FlotillaCall call = new FlotillaCall(link, "chat", "two words", "it's", "*");

    assertThat(call.ended().out()).contains("[chat] [two words] [it's] [*]");
  }

  private Path tree() {
    return folder.resolve("tree");
  }

  private List<String> builds() throws IOException {
    Path calls = folder.resolve("calls");
    return Files.exists(calls) ? Files.readAllLines(calls) : List.of();
  }

  private static Path onPath(String tool) {
    for (String place : System.getenv("PATH").split(":", -1)) {
      Path found = Path.of(place, tool);
      if (Files.isExecutable(found)) {
        return found;
      }
    }
    throw new IllegalStateException("there is no " + tool + " on the PATH");
  }

  /** A JDK whose java prints how it was called. */
  private Path jdk(String version, Path home) throws IOException {
    Files.createDirectories(home.resolve("bin"));
    Files.writeString(home.resolve("release"), "JAVA_VERSION=\"" + version + "\"\n");
    script(
        home.resolve("bin/java"),
        "echo \"$0 $*\"; for word in \"$@\"; do printf '[%s] ' \"$word\"; done\n");
    script(home.resolve("bin/javac"), "exit 0\n");
    return home;
  }

  private static void script(Path file, String body) throws IOException {
    script(file, "/usr/bin/env bash", body);
  }

  private static void script(Path file, String shell, String body) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, "#!" + shell + "\n" + body);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** Older than any build of this test. */
  private static void aged(Path file) throws IOException {
    Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(Duration.ofHours(1))));
  }

  private Ended launch(String... arguments) throws Exception {
    return call(arguments).ended();
  }

  private FlotillaCall call(String... arguments) throws IOException {
    return new FlotillaCall(tree().resolve("flotilla"), arguments);
  }

  private record Ended(int code, String out, String err) {}

  /** One call of the launcher, with nothing of this machine on its PATH but the tools it needs. */
  private final class FlotillaCall {
    private final ProcessBuilder builder;
    private final Path out;
    private final Path err;
    private @Nullable Process process;

    FlotillaCall(Path launcher, String... arguments) throws IOException {
      List<String> command = new ArrayList<>(List.of(launcher.toString()));
      command.addAll(List.of(arguments));
      out = Files.createTempFile(folder, "out", "");
      err = Files.createTempFile(folder, "err", "");
      builder =
          new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
      builder.environment().clear();
      environment("PATH", folder.resolve("bin").toString());
      environment("HOME", folder.resolve("home").toString());
      environment("CALLS", folder.resolve("calls").toString());
      environment("BROKEN", folder.resolve("broken").toString());
    }

    FlotillaCall environment(String name, String value) {
      builder.environment().put(name, value);
      return this;
    }

    FlotillaCall start() throws IOException {
      running();
      return this;
    }

    private Process running() throws IOException {
      Process now = process;
      if (now == null) {
        now = builder.start();
        process = now;
        started.add(now);
      }
      return now;
    }

    String saidSoFar() throws IOException {
      return Files.readString(err);
    }

    Ended ended() throws Exception {
      Process now = running();
      assertThat(now.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
      return new Ended(now.exitValue(), Files.readString(out), Files.readString(err));
    }
  }
}
