package dev.flotilla.hub.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.io.TempDir;

class StoreKillTest {

  @TempDir Path home;

  /** What the child printed, without a last line that the kill may have cut. */
  private static List<Long> wholeLines(Path printed) throws IOException {
    String text = Files.readString(printed);
    return text.substring(0, text.lastIndexOf('\n') + 1).lines().map(Long::valueOf).toList();
  }

  @RepeatedTest(3)
  void aKillLosesNoAcknowledgedWrite() throws Exception {
    Path printed = home.resolve("printed");
    Process writer =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                AcknowledgingWriter.class.getName(),
                home.toString())
            .redirectOutput(printed.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> !writer.isAlive() || wholeLines(printed).size() >= 50);
    } finally {
      // SIGKILL: no hook of the child runs.
      writer.destroyForcibly().waitFor();
    }
    List<Long> acknowledged = wholeLines(printed);
    assertThat(acknowledged).hasSizeGreaterThanOrEqualTo(50);
    try (Store store = Store.open(home, StoreLimits.DEFAULT, InstantSource.system())) {
      Set<Long> stored =
          store.revisions().newest(10_000).stream()
              .map(RevisionTable.Revision::number)
              .collect(Collectors.toSet());
      // Revisions beyond the newest thousand are pruned, which is not a loss.
      long oldest = stored.stream().min(Long::compare).orElseThrow();
      assertThat(stored)
          .containsAll(acknowledged.stream().filter(number -> number >= oldest).toList());
    }
  }
}
