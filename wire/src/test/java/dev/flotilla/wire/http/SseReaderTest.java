package dev.flotilla.wire.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SseReaderTest {
  private static final int MUTATIONS = 30_000;

  @Test
  void eventsComeWholeWithTheirDataWhereItLies() throws IOException {
    SseReader events = reader("data: {\"a\":1}\n\n: ping\n\ndata: [DONE]\n\n");
    assertThat(events.next()).isTrue();
    assertThat(data(events)).isEqualTo("{\"a\":1}");
    assertThat(raw(events)).isEqualTo("data: {\"a\":1}\n\n");
    assertThat(events.dataBuffer()).isSameAs(events.buffer());
    assertThat(events.isDone()).isFalse();
    assertThat(events.moreBuffered()).isTrue();
    assertThat(data(events)).isEqualTo("{\"a\":1}");

    assertThat(events.next()).isTrue();
    assertThat(events.hasData()).isFalse();
    assertThat(raw(events)).isEqualTo(": ping\n\n");

    assertThat(events.next()).isTrue();
    assertThat(events.isDone()).isTrue();
    assertThat(events.moreBuffered()).isFalse();
    assertThat(events.next()).isFalse();
    assertThat(events.leftover()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"\n", "\r\n", "\r"})
  void everyLineEndOfTheSpecificationEndsALine(String end) throws IOException {
    String stream = "event: x@data: one@data:two@id: 3@data@@data: four@@".replace("@", end);
    for (int piece : new int[] {1, 2, 3, 1000}) {
      SseReader events = reader(stream, () -> piece);
      assertThat(events.next()).isTrue();
      assertThat(data(events)).isEqualTo("one\ntwo\n");
      assertThat(events.dataJoined()).isTrue();
      assertThat(events.next()).isTrue();
      assertThat(data(events)).isEqualTo("four");
      assertThat(events.next()).isFalse();
    }
  }

  @Test
  void aByteOrderMarkAndOneSpaceAreNotData() throws IOException {
    SseReader events = reader("\uFEFFdata:  two spaces\n\n");
    assertThat(events.next()).isTrue();
    assertThat(data(events)).isEqualTo(" two spaces");
  }

  @Test
  void aFieldThatOnlyBeginsLikeDataIsNone() throws IOException {
    SseReader events = reader("database: x\ndata : y\nDATA: z\n\n");
    assertThat(events.next()).isTrue();
    assertThat(events.hasData()).isFalse();
  }

  @Test
  void halfAnEventIsLeftOver() throws IOException {
    SseReader events = reader("data: a\n\ndata: {\"cho");
    assertThat(events.next()).isTrue();
    assertThat(events.next()).isFalse();
    assertThat(events.leftover()).isEqualTo(11);
    assertThat(raw(events)).isEqualTo("data: {\"cho");
    assertThat(events.hasData()).isFalse();
    assertThat(events.next()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 100_000})
  void anEventUpToTheLimitIsTakenAndNoneBeyond(int piece) throws IOException {
    String fits = "data: " + "x".repeat(100 - 8) + "\n\n";
    SseReader events = new SseReader(pieced(fits.repeat(3), () -> piece), 100);
    for (int i = 0; i < 3; i++) {
      assertThat(events.next()).isTrue();
      assertThat(events.length()).isEqualTo(100);
    }
    assertThat(events.next()).isFalse();

    SseReader tooLong = new SseReader(pieced(fits + "x" + fits, () -> piece), 100);
    assertThat(tooLong.next()).isTrue();
    assertThatThrownBy(tooLong::next)
        .isInstanceOf(ReplyMalformed.class)
        .hasMessage("an event of the reply is longer than 100 bytes");
  }

  @Test
  void invalidUtf8IsToldPerEvent() throws IOException {
    byte[] stream = "data: ok é\n\ndata: ??\n\ndata: ok\n\n".getBytes(UTF_8);
    stream[indexOf(stream, '?')] = (byte) 0xc3;
    SseReader events = new SseReader(new ByteArrayInputStream(stream), 1000);
    List<Boolean> valid = new ArrayList<>();
    while (events.next()) {
      valid.add(events.validUtf8());
    }
    assertThat(valid).containsExactly(true, false, true);
  }

  @Test
  void anySplitOfAnyStreamGivesTheEventsOfTheSpecification() throws IOException {
    Random random = new Random(7);
    String[] parts = {
      "data: ",
      "data:",
      "data",
      ": c",
      "\n",
      "\r",
      "\r\n",
      "\n\n",
      "x",
      " ",
      "event: e",
      "é",
      "[DONE]"
    };
    for (int i = 0; i < MUTATIONS; i++) {
      StringBuilder stream = new StringBuilder();
      int count = random.nextInt(30);
      for (int j = 0; j < count; j++) {
        stream.append(parts[random.nextInt(parts.length)]);
      }
      List<String> expected = specification(stream.toString());
      int most = 1 + random.nextInt(6);
      SseReader events = reader(stream.toString(), () -> 1 + random.nextInt(most));
      List<String> seen = new ArrayList<>();
      while (events.next()) {
        if (events.hasData()) {
          seen.add(data(events));
        }
        if (random.nextBoolean()) {
          events.moreBuffered();
        }
      }
      assertThat(seen).as("stream %s", stream).isEqualTo(expected);
    }
  }

  /** WHATWG's algorithm, told in strings; an event without a data line is not dispatched. */
  private static List<String> specification(String stream) {
    List<String> events = new ArrayList<>();
    String data = null;
    String text = stream.replace("\r\n", "\n").replace('\r', '\n');
    int from = 0;
    for (int end; (end = text.indexOf('\n', from)) >= 0; from = end + 1) {
      String line = text.substring(from, end);
      if (line.isEmpty()) {
        if (data != null) {
          events.add(data);
        }
        data = null;
        continue;
      }
      int colon = line.indexOf(':');
      String field = colon < 0 ? line : line.substring(0, colon);
      String value = colon < 0 ? "" : line.substring(colon + 1);
      if (field.equals("data")) {
        value = value.startsWith(" ") ? value.substring(1) : value;
        data = data == null ? value : data + "\n" + value;
      }
    }
    return events;
  }

  private static int indexOf(byte[] bytes, char wanted) {
    return new String(bytes, ISO_8859_1).indexOf(wanted);
  }

  private static SseReader reader(String stream) {
    return reader(stream, () -> Integer.MAX_VALUE);
  }

  private static SseReader reader(String stream, IntSupplier pieceBytes) {
    return new SseReader(pieced(stream, pieceBytes), SseReader.EVENT_BYTES_MAX);
  }

  private static java.io.InputStream pieced(String stream, IntSupplier pieceBytes) {
    return new PiecedConnection(stream.getBytes(UTF_8), pieceBytes).input();
  }

  private static String data(SseReader events) {
    return new String(events.dataBuffer(), events.dataStart(), events.dataLength(), UTF_8);
  }

  private static String raw(SseReader events) {
    return new String(events.buffer(), events.start(), events.length(), UTF_8);
  }
}
