package dev.flotilla.wire.lanes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LaneLineTest {
  @Test
  void linesComeBackAndWhatFollowsIsLeftAlone() throws IOException {
    for (LaneLine line :
        new LaneLine[] {
          new LaneLine.Open("node-a/qwen/qwen3:8b-2", 17),
          new LaneLine.Opened(),
          new LaneLine.Refused("the worker is gone"),
          new LaneLine.Refused(""),
        }) {
      byte[] stream = (new String(line.format(), UTF_8) + "raw bytes").getBytes(UTF_8);
      ByteArrayInputStream in = new ByteArrayInputStream(stream);
      assertThat(LaneLine.read(in)).isEqualTo(line);
      assertThat(new String(in.readAllBytes(), UTF_8)).isEqualTo("raw bytes");
    }
    assertThat(new LaneLine.Open("n/m-1", 2).format()).isEqualTo("OPEN n/m-1 2\n".getBytes(UTF_8));
  }

  @Test
  void aReasonStaysOneShortLine() {
    assertThat(new LaneLine.Refused("a\nb\r\0é" + "x".repeat(1000)).reason())
        .startsWith("a b   x")
        .hasSize(LaneLine.REASON_CHARS_MAX);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "OPEN",
        "OPEN ",
        "OPEN n/m-1",
        "OPEN n/m-1 ",
        "OPEN n/m-1 x",
        "OPEN n/m-1 -1",
        "OPEN  1",
        "OPEN n/m-1 1 2",
        "OPEN ../m-1 1",
        "OPEN n/m-1  1",
        "OPENED x",
        "opened",
        "REFUSEDx",
        "OPEN n/m-1 9999999999999999999",
        "GET / HTTP/1.1",
        "OPEN n/m-1 1\r",
      })
  void anyOtherLineIsMalformed(String line) {
    assertThatThrownBy(() -> read(line + "\n")).isInstanceOf(LaneMalformed.class);
  }

  @Test
  void aLineHasALimitAndAnEnd() {
    assertThatThrownBy(() -> read("x".repeat(600))).hasMessageContaining("512 bytes");
    assertThatThrownBy(() -> read("OPEN")).hasMessageContaining("within a line");
    assertThatThrownBy(() -> read("")).hasMessageContaining("before it was opened");
    assertThatIllegalArgumentException().isThrownBy(() -> new LaneLine.Open("n/m-1\n", 1));
    assertThatIllegalArgumentException().isThrownBy(() -> new LaneLine.Open("n/m-1", -1));
  }

  private static LaneLine read(String stream) throws IOException {
    return LaneLine.read(new ByteArrayInputStream(stream.getBytes(UTF_8)));
  }
}
