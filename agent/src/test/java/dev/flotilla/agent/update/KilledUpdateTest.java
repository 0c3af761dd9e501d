package dev.flotilla.agent.update;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.wire.release.Release;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/** An agent that is killed with SIGKILL in the middle of an update: the next one goes on. */
class KilledUpdateTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir Path folder;
  private final List<Process> started = new ArrayList<>();
  private Path file = Path.of("");
  private Path note = Path.of("");

  @BeforeEach
  void makeRelease() throws Exception {
    Map<String, byte[]> contents = Archives.contents("0.2.0");
    Random random = new Random(7);
    for (int i = 0; i < 100; i++) {
      byte[] jar = new byte[20_000];
      random.nextBytes(jar);
      contents.put("lib/part-" + i + ".jar", jar);
    }
    byte[] zip = Archives.zip(contents);
    Release release = Archives.release("0.2.0", zip);
    file = Files.write(folder.resolve("release.zip"), zip);
    note = Files.write(folder.resolve("note"), JsonMapper.shared().writeValueAsBytes(release));
  }

  @AfterEach
  void endWhatRuns() {
    started.forEach(Process::destroyForcibly);
  }

  @Test
  void atEveryStepNothingIsHalfAndTheNextOneGetsThere() throws Exception {
    killWhen("slowly", () -> length(versions("fetch")) > 100_000);
    assertThat(versions("0.2.0")).doesNotExist();

    // Whether it dies while it unpacks or right behind that, a version's folder is whole or absent.
    killWhen(
        "fast",
        () ->
            Files.exists(versions("fetch/unpacking/lib/part-9.jar"))
                || Files.exists(versions("0.2.0")));
    assertThat(Files.exists(versions("0.2.0")) ? jars() : 101).isEqualTo(101);
    assertThat(versions("next")).doesNotExist();

    killWhen("fast", () -> Files.exists(versions("next")));
    assertThat(jars()).isEqualTo(101);
    assertThat(versions("0.2.0/flotilla")).isExecutable();
    assertThat(Files.readString(versions("next"))).isEqualTo("0.2.0 1\n");
  }

  private void killWhen(String pace, Callable<Boolean> then) throws Exception {
    Process process =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                UpdatingMain.class.getName(),
                pace,
                folder.resolve("home").toString(),
                file.toString(),
                note.toString(),
                Archives.PAIR.key().text())
            .redirectErrorStream(true)
            .redirectOutput(Files.createTempFile(folder, "out", "").toFile())
            .start();
    started.add(process);
    await().pollInterval(Duration.ofMillis(2)).atMost(LIMIT).until(then);
    process.destroyForcibly();
    assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  private Path versions(String name) {
    return folder.resolve("home/versions").resolve(name);
  }

  private int jars() throws IOException {
    try (var files = Files.list(versions("0.2.0/lib"))) {
      return (int) files.count();
    }
  }

  private static long length(Path fetch) throws IOException {
    if (!Files.isDirectory(fetch)) {
      return 0;
    }
    try (var files = Files.list(fetch)) {
      return files.filter(Files::isRegularFile).mapToLong(part -> part.toFile().length()).sum();
    }
  }
}
