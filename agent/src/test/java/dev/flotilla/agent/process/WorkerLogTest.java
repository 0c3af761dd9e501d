package dev.flotilla.agent.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WorkerLogTest {
  @TempDir Path logs;

  @Test
  void keepsTheLastLinesAndWritesAll() {
    WorkerLog log = new WorkerLog(logs, "node/m-1", 1 << 20);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 280; i++) {
      text.append("line ").append(i).append("\n\n");
    }
    pump(log, text + "the end");

    assertThat(log.lastLines()).hasSize(200).endsWith("line 279", "the end");
    assertThat(logs.resolve("node_m-1.log")).hasContent(text + "the end");
  }

  @Test
  void aLogNeverOutgrowsItsTwoFiles() throws IOException {
    WorkerLog log = new WorkerLog(logs, "node/m-1", 20_000);
    for (int i = 0; i < 10; i++) {
      pump(log, ("x".repeat(99) + "\n").repeat(150));
    }
    assertThat(Files.size(logs.resolve("node_m-1.log"))).isLessThan(40_000);
    assertThat(Files.size(logs.resolve("node_m-1.log.1"))).isLessThan(40_000);
    try (var files = Files.list(logs)) {
      assertThat(files).hasSize(2);
    }
  }

  @Test
  void aLineWithoutAnEndIsCut() {
    WorkerLog log = new WorkerLog(logs, "node/m-1", 1 << 20);
    pump(log, "y".repeat(100_000));
    assertThat(log.lastLines()).singleElement().satisfies(l -> assertThat(l).hasSize(8192));
  }

  @Test
  void aLogThatCannotBeWrittenStopsNothing() throws IOException {
    Path file = Files.createFile(logs.resolve("a file"));
    WorkerLog log = new WorkerLog(file, "node/m-1", 1 << 20);
    pump(log, "one\ntwo\n");
    assertThat(log.lastLines()).containsExactly("one", "two");
  }

  @Test
  void everyWorkersLogIsAFileOfItsOwnInTheFolder() {
    assertThat(WorkerLog.fileName("node/m-1")).isEqualTo("node_m-1.log");
    assertThat(WorkerLog.fileName("node/a:b-1")).isNotEqualTo(WorkerLog.fileName("node/a@b-1"));
    assertThat(WorkerLog.fileName("../../etc/passwd-1")).doesNotContain("/");
    assertThat(WorkerLog.fileName("n/" + "x".repeat(10_000))).hasSizeLessThan(140);
  }

  private static void pump(WorkerLog log, String text) {
    log.pump(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
  }
}
