package dev.flotilla.wire.lanes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import dev.flotilla.wire.release.Release;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class ControlCodecTest {
  private static final NodeFacts FACTS =
      new NodeFacts(
          "host",
          "linux",
          "6.1",
          "x86_64",
          false,
          "cpu",
          2,
          4,
          24L << 30,
          12L << 30,
          0.25,
          List.of(new NodeFacts.Accelerator("nvidia", "H200", 139L << 30, -1)),
          List.of(new NodeFacts.EngineFacts("llama-server", "/usr/bin/llama-server", "")));
  private static final WorkerReport REPORT =
      new WorkerReport(
          "n/m-1",
          "m",
          7,
          WorkerReport.Phase.READY,
          "",
          "llama-server",
          "b1",
          1234,
          40000,
          "key",
          List.of("llama-server", "--jinja"),
          4096,
          4,
          false,
          16,
          1L << 30,
          2,
          Instant.parse("2026-01-17T10:00:00.123456789Z"),
          "0123abc",
          false);
  private static final WorkerReport STOPPED =
      new WorkerReport(
          "n/m-2",
          "m",
          1,
          WorkerReport.Phase.STOPPED,
          "",
          "llama-server",
          "",
          0,
          0,
          "",
          List.of(),
          0,
          0,
          false,
          0,
          0,
          0,
          null,
          "0123abc",
          true);

  static Stream<ControlMessage> everyMessage() {
    return Stream.of(
        new ControlMessage.Hello("n", "a1", 3, "0.1.0", FACTS, List.of(REPORT, STOPPED)),
        new ControlMessage.Heartbeat(
            FACTS, List.of(), List.of(new ControlMessage.LaneCount("n/m-1", 1, 2, 3, 4, 5))),
        new ControlMessage.WorkerChanged(REPORT),
        new ControlMessage.Happened(
            Instant.parse("2026-01-17T10:00:00Z"),
            Severity.WARNING,
            "worker-died",
            "n/m-1",
            "line\nend \u2028 é"),
        new ControlMessage.Progress("m", "download", 1, -1, false),
        new ControlMessage.UpdateStep(
            "0.2.0", 1, ControlMessage.UpdateStep.Stage.DECLINED, "its policy names no key"),
        new ControlMessage.Goodbye("stopped"),
        new ControlMessage.Welcome("h", 1000, 4, 64),
        new ControlMessage.Refusal("name-taken", "another agent has it", false),
        new ControlMessage.Desired(
            9,
            List.of(
                new WorkerSpec(
                    "n/m-1",
                    "m",
                    "llama-server",
                    "pip:x",
                    4096,
                    4,
                    WorkerSpec.Reasoning.REASONING_CONTENT,
                    true,
                    false,
                    Map.of("threads", "2")))),
        new ControlMessage.RestartWorker("n/m-1"),
        new ControlMessage.UpdateOffered(new Release("0.2.0", 9, "ab".repeat(32), "sig"), 2),
        new ControlMessage.UpdateNow("0.2.0"),
        new ControlMessage.LanesWanted(8));
  }

  @ParameterizedTest
  @MethodSource("everyMessage")
  void everyMessageIsOneLineAndComesBack(ControlMessage message) throws IOException {
    byte[] line = ControlCodec.encode(message);
    String text = new String(line, UTF_8);
    assertThat(text).endsWith("}\n").contains("\"type\":\"");
    assertThat(text.indexOf('\n')).isEqualTo(text.length() - 1);
    assertThat(ControlCodec.decode(text.strip().getBytes(UTF_8))).contains(message);
  }

  @Test
  void timesAreTextThatAPersonCanRead() {
    assertThat(new String(ControlCodec.encode(new ControlMessage.WorkerChanged(REPORT)), UTF_8))
        .contains("\"startedAt\":\"2026-01-17T10:00:00.123456789Z\"");
  }

  @Test
  void aNewerAgentIsUnderstood() throws IOException {
    assertThat(decode("{\"type\":\"brand-new\",\"x\":1}")).isEmpty();
    assertThat(decode("{\"type\":\"goodbye\",\"reason\":\"r\",\"because\":{\"a\":[1]}}"))
        .contains(new ControlMessage.Goodbye("r"));
    assertThat(decode("{\"reason\":\"r\",\"type\":\"goodbye\"}"))
        .contains(new ControlMessage.Goodbye("r"));
  }

  @Test
  void anOlderAgentLeavesNumbersOut() throws IOException {
    assertThat(decode("{\"type\":\"progress\",\"subject\":\"m\",\"step\":\"s\"}"))
        .contains(new ControlMessage.Progress("m", "s", 0, 0, false));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "`` | not an object with a type",
        "nonsense | not JSON",
        "[] | not an object with a type",
        "{} | not an object with a type",
        "{\"type\":7} | not an object with a type",
        "{\"type\":\"goodbye\"} | has no goodbye.reason",
        "{\"type\":\"goodbye\",\"reason\":null} | has no goodbye.reason",
        "{\"type\":\"goodbye\",\"reason\":7} | wrong type: reason",
        "{\"type\":\"welcome\",\"hubId\":\"h\",\"heartbeatMillis\":\"5\"} | wrong type: heartbeatMillis",
        "{\"type\":\"welcome\",\"hubId\":\"h\",\"heartbeatMillis\":1.5} | wrong type: heartbeatMillis",
        "{\"type\":\"lanes-wanted\",\"count\":99999999999} | wrong type: count",
        "{\"type\":\"event\",\"at\":\"yesterday\"} | wrong type: at",
        "{\"type\":\"event\",\"severity\":0} | wrong type: severity",
        "{\"type\":\"desired\",\"revision\":1,\"workers\":[null]} | has no desired.workers[]",
        "{\"type\":\"desired\",\"revision\":1,\"workers\":{}} | wrong type: workers",
        "{\"type\":\"heartbeat\",\"workers\":[],\"lanes\":[]} | has no heartbeat.facts",
        "{\"type\":\"goodbye\",\"reason\":\"r\"} x | not JSON",
      })
  void aBrokenMessageNamesTheField(String line, String words) {
    assertThatThrownBy(() -> decode(line))
        .isInstanceOf(LaneMalformed.class)
        .hasMessageContaining(words);
  }

  @Test
  void aLineHasALimitBothWays() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ControlCodec.encode(new ControlMessage.Goodbye("x".repeat(1 << 20))));
    assertThatThrownBy(() -> ControlCodec.decode(new byte[1 << 20]))
        .isInstanceOf(LaneMalformed.class)
        .hasMessageContaining("1048576 bytes");
    assertThatThrownBy(() -> decode("{\"type\":\"goodbye\",\"x\":" + "[".repeat(5000)))
        .isInstanceOf(LaneMalformed.class);
  }

  @Test
  void mutatedLinesAreMessagesOrMalformedAndNothingElse() throws IOException {
    Random random = new Random(5);
    List<byte[]> lines = everyMessage().map(ControlCodec::encode).toList();
    int decoded = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] line = lines.get(random.nextInt(lines.size())).clone();
      for (int j = random.nextInt(3); j >= 0; j--) {
        line[random.nextInt(line.length)] =
            (byte) (random.nextBoolean() ? ' ' + random.nextInt(95) : random.nextInt(256));
      }
      try {
        decoded += ControlCodec.decode(line).isPresent() ? 1 : 0;
      } catch (LaneMalformed _) {
        // As it should.
      }
    }
    assertThat(decoded).isPositive();
  }

  @Test
  void linesAreReadWithALimit() throws IOException {
    LineReader lines = reader("one\r\n\ntwo\n" + "x".repeat(15) + "\n", 16);
    assertThat(lines.next()).isEqualTo("one".getBytes(UTF_8));
    assertThat(lines.next()).isEmpty();
    assertThat(lines.next()).isEqualTo("two".getBytes(UTF_8));
    assertThat(lines.next()).hasSize(15);
    assertThat(lines.next()).isNull();
    assertThatThrownBy(() -> reader("x".repeat(16) + "\n", 16).next())
        .isInstanceOf(LaneMalformed.class)
        .hasMessageContaining("16 bytes");
    assertThatThrownBy(() -> reader("cut", 16).next())
        .isInstanceOf(LaneMalformed.class)
        .hasMessageContaining("within a line");
    String big = "y".repeat(100_000);
    assertThat(reader(big + "\n", ControlCodec.LINE_BYTES_MAX).next()).hasSize(100_000);
  }

  private static LineReader reader(String stream, int max) {
    return new LineReader(new ByteArrayInputStream(stream.getBytes(UTF_8)), max);
  }

  private static java.util.Optional<ControlMessage> decode(String line) throws IOException {
    return ControlCodec.decode(line.getBytes(UTF_8));
  }
}
