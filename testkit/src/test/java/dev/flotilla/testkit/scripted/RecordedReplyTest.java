package dev.flotilla.testkit.scripted;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.wire.connection.SocketConnection;
import dev.flotilla.wire.http.Http1;
import dev.flotilla.wire.http.Http1Limits;
import dev.flotilla.wire.http.HttpCall;
import dev.flotilla.wire.http.HttpHeaders;
import dev.flotilla.wire.http.HttpReply;
import dev.flotilla.wire.http.SseReader;
import dev.flotilla.wire.openai.ChunkScan;
import dev.flotilla.wire.openai.EngineError;
import dev.flotilla.wire.openai.TokenUsage;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a real llama-server says, read by the product's own client. */
class RecordedReplyTest {
  private static final String PATH = "/recorded";

  private final ScriptedEngine engine = ScriptedEngine.start();

  @AfterEach
  void close() {
    engine.close();
  }

  @ParameterizedTest
  @EnumSource
  void everyReplyIsReadWhole(RecordedReply recorded) throws IOException {
    try (Http1 http = play(recorded)) {
      HttpReply reply = get(http);
      byte[] body = reply.bytes(1 << 20);
      assertThat(body).isNotEmpty();
      boolean closes = reply.headers().first("connection").filter("close"::equals).isPresent();
      assertThat(reply.reusable()).isEqualTo(!closes);
      if (reply.status() == 200) {
        assertThat(EngineError.parse(body)).isEqualTo(EngineError.UNKNOWN);
      } else {
        assertThat(EngineError.parse(body).message()).isNotEmpty();
      }
    }
  }

  @Test
  void aWholeChatTellsItsUsageAndItsTimings() throws IOException {
    try (Http1 http = play(RecordedReply.CHAT)) {
      byte[] body = get(http).bytes(1 << 20);
      ChunkScan scan = new ChunkScan("public");
      assertThat(scan.scan(body, 0, body.length)).isTrue();
      assertThat(scan.finished()).isTrue();
      assertThat(scan.usage()).isEqualTo(new TokenUsage(32, 4, 0));
      assertThat(scan.timings()).extracting(t -> t.predictedTokens()).isEqualTo(4L);
      assertThat(new String(scan.withModel(body), UTF_8)).contains("\"model\":\"public\"");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"CHAT_STREAM", "CHAT_STREAM_USAGE", "COMPLETION_STREAM"})
  void aStreamEndsWithItsReasonItsTimingsAndDone(RecordedReply recorded) throws IOException {
    try (Http1 http = play(recorded)) {
      HttpReply reply = get(http);
      SseReader events = new SseReader(reply.body(), SseReader.EVENT_BYTES_MAX);
      ChunkScan scan = new ChunkScan("public");
      boolean finished = false;
      boolean timed = false;
      boolean counted = false;
      assertThat(events.next()).isTrue();
      while (!events.isDone()) {
        assertThat(events.validUtf8()).isTrue();
        assertThat(scan.scan(events.dataBuffer(), events.dataStart(), events.dataLength()))
            .isTrue();
        assertThat(scan.modelDiffers()).isTrue();
        finished |= scan.finished();
        timed |= scan.timings() != null;
        counted |= scan.usage() != null;
        assertThat(events.next()).isTrue();
      }
      assertThat(events.next()).isFalse();
      assertThat(finished).isTrue();
      assertThat(timed).isTrue();
      // Of completions, llama-server tells the usage without being asked.
      assertThat(counted).isEqualTo(recorded != RecordedReply.CHAT_STREAM);
      assertThat(reply.reusable()).isTrue();
    }
  }

  @Test
  void anOverflowTellsBothNumbers() throws IOException {
    try (Http1 http = play(RecordedReply.OVERFLOW)) {
      HttpReply reply = get(http);
      assertThat(reply.status()).isEqualTo(400);
      assertThat(EngineError.parse(reply.bytes(1 << 20)).overflow())
          .contains(new EngineError.ContextOverflow(2031, 512));
    }
  }

  private Http1 play(RecordedReply recorded) throws IOException {
    engine.when(PATH, Script.recorded(recorded));
    return new Http1(
        SocketConnection.dial(engine.address(), Duration.ofSeconds(10)),
        "127.0.0.1",
        Http1Limits.DEFAULTS);
  }

  private static HttpReply get(Http1 http) throws IOException {
    return http.exchange(HttpCall.get(PATH, HttpHeaders.NONE));
  }
}
