package dev.flotilla.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class TextTest {
  @Test
  void aCommandLineCanBePastedIntoAShell() {
    assertThat(Text.commandLine(List.of("/opt/llama server", "--alias", "it's", "-c", "", "8192")))
        .isEqualTo("'/opt/llama server' --alias 'it'\\''s' -c '' 8192");
  }

  @Test
  void bytesAreToldInTheUnitThatReadsBest() {
    assertThat(Text.bytes(512)).isEqualTo("512 B");
    assertThat(Text.bytes(1536)).isEqualTo("1.5 KiB");
    assertThat(Text.bytes(98L << 20)).isEqualTo("98 MiB");
    assertThat(Text.bytes(5L << 30)).isEqualTo("5.0 GiB");
  }
}
