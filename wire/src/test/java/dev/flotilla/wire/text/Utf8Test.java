package dev.flotilla.wire.text;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.Random;
import org.junit.jupiter.api.Test;

class Utf8Test {
  @Test
  void everyStartOfASequenceIsJudgedAsTheJdkDoes() {
    byte[] thirds = {0x41, (byte) 0x80, (byte) 0xc3};
    for (int first = 0x7f; first < 0x100; first++) {
      for (int second = 0; second < 0x100; second++) {
        for (byte third : thirds) {
          for (byte fourth : thirds) {
            byte[] bytes = {(byte) first, (byte) second, third, fourth};
            if (Utf8.isValid(bytes, 0, 4) != jdk(bytes)) {
              fail("%02x %02x %02x %02x", first, second, third, fourth);
            }
          }
        }
      }
    }
  }

  @Test
  void longerTextsAreJudgedAsTheJdkDoes() {
    Random random = new Random(1);
    int valid = 0;
    for (int i = 0; i < 20_000; i++) {
      StringBuilder text = new StringBuilder();
      for (int j = random.nextInt(12); j >= 0; j--) {
        text.append(random.nextInt(3) == 0 ? "é€😀".substring(0, 2) : "plain text ");
        text.appendCodePoint(random.nextInt(0x10ffff));
      }
      byte[] bytes = text.toString().getBytes(UTF_8);
      if (random.nextBoolean()) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
      }
      assertThat(Utf8.isValid(bytes, 0, bytes.length)).isEqualTo(jdk(bytes));
      valid += jdk(bytes) ? 1 : 0;
    }
    assertThat(valid).isBetween(5_000, 19_000);
  }

  private static boolean jdk(byte[] bytes) {
    try {
      UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
      return true;
    } catch (CharacterCodingException _) {
      return false;
    }
  }
}
