package dev.flotilla.agent.lanes;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReadAheadTest {
  /** A connection that notes how much it was asked for, and is never asked how much there is. */
  private static final class Asked extends ByteArrayInputStream {
    private final List<Integer> wanted = new ArrayList<>();

    Asked(String text) {
      super(text.getBytes(US_ASCII));
    }

    @Override
    public synchronized int read(byte[] target, int offset, int length) {
      wanted.add(length);
      return super.read(target, offset, length);
    }

    @Override
    public synchronized int available() {
      throw new AssertionError("each such question is a system call");
    }
  }

  @Test
  void whatWasReadAheadComesFirstAndThenReadsPassTheBufferBy() throws IOException {
    Asked connection = new Asked("OPEN\n0123456789");
    ReadAhead input = new ReadAhead(connection, 8);
    assertThat(input.awaitByte()).isTrue();
    StringBuilder line = new StringBuilder();
    for (int c; (c = input.read()) != '\n'; ) {
      line.append((char) c);
    }
    assertThat(line).hasToString("OPEN");
    byte[] target = new byte[16];
    assertThat(input.read(target, 0, 16)).isEqualTo(3);
    assertThat(input.read(target, 3, 13)).isEqualTo(7);
    assertThat(new String(target, 0, 10, US_ASCII)).isEqualTo("0123456789");
    assertThat(connection.wanted).containsExactly(8, 13);
  }

  @Test
  void theEndIsTheEndHoweverItIsAskedFor() throws IOException {
    ReadAhead input = new ReadAhead(new Asked("x"), 8);
    byte[] target = new byte[4];
    assertThat(input.read(target, 0, 0)).isZero();
    assertThat(input.read(target, 0, 4)).isEqualTo(1);
    assertThat(input.awaitByte()).isFalse();
    assertThat(input.read()).isEqualTo(-1);
    assertThat(input.read(target, 0, 4)).isEqualTo(-1);
    assertThat(input.read(new byte[8], 0, 8)).isEqualTo(-1);
  }
}
