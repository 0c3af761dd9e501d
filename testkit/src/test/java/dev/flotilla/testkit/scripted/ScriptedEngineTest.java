package dev.flotilla.testkit.scripted;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.testkit.client.TestClient;
import dev.flotilla.wire.connection.SocketConnection;
import dev.flotilla.wire.http.Http1;
import dev.flotilla.wire.http.Http1Limits;
import dev.flotilla.wire.http.HttpCall;
import dev.flotilla.wire.http.HttpHeaders;
import dev.flotilla.wire.http.HttpReply;
import dev.flotilla.wire.http.ReplyCutShort;
import dev.flotilla.wire.http.ReplyMalformed;
import dev.flotilla.wire.http.SseReader;
import dev.flotilla.wire.openai.ChunkScan;
import dev.flotilla.wire.openai.EngineError;
import dev.flotilla.wire.openai.TokenUsage;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The engine as the product's own client meets it: good, and bad in each of its ways. */
class ScriptedEngineTest {
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final String STREAMED =
      "{\"model\":\"scripted\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"Hi there\"}]}";
  private static final String WHOLE = STREAMED.replace("true", "false");

  private final ScriptedEngine engine = ScriptedEngine.start();

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void anEngineAnswersAChatWholeAndStreamedOverOneConnection() throws IOException {
    try (Http1 http = connect()) {
      HttpReply whole = http.exchange(chat(WHOLE));
      ChunkScan scan = new ChunkScan("public-name");
      byte[] body = whole.bytes(1 << 20);
      assertThat(scan.scan(body, 0, body.length)).isTrue();
      assertThat(scan.finished()).isTrue();
      assertThat(scan.usage()).isEqualTo(new TokenUsage(3, 5, 0));
      assertThat(new String(scan.withModel(body), UTF_8))
          .contains("Hello from the scripted engine")
          .contains("\"model\":\"public-name\"");
      assertThat(whole.reusable()).isTrue();

      HttpReply stream = http.exchange(chat(STREAMED));
      SseReader events = new SseReader(stream.body(), SseReader.EVENT_BYTES_MAX);
      int chunks = 0;
      boolean finished = false;
      boolean done = false;
      while (events.next()) {
        done = events.isDone();
        if (!done) {
          assertThat(scan.scan(events.dataBuffer(), events.dataStart(), events.dataLength()))
              .isTrue();
          finished |= scan.finished();
          chunks++;
        }
      }
      assertThat(chunks).isEqualTo(7);
      assertThat(finished).isTrue();
      assertThat(done).isTrue();
      assertThat(scan.timings()).isNotNull();
      assertThat(stream.reusable()).isTrue();
    }
    assertThat(engine.connections()).isEqualTo(1);
    assertThat(engine.chats()).hasSize(2);
    assertThat(engine.chats().getFirst().goneAt()).isEmpty();
  }

  @Test
  void anEngineTellsWhatItIs() {
    engine.model("m").contextTokens(512).slots(2).tokens(ScriptedEngine.Tokens.PER_BYTE);
    assertThat(get("/health").body()).contains("ok");
    assertThat(get("/props").body()).contains("\"n_ctx\":512").contains("\"total_slots\":2");
    assertThat(get("/v1/models").body()).contains("\"id\":\"m\"");
    assertThat(get("/slots").body()).contains("\"id\":1");
    assertThat(post("/tokenize", "{\"content\":\"four\"}").body())
        .isEqualTo("{\"tokens\":[1,1,1,1]}");
    assertThat(post("/apply-template", WHOLE).body())
        .isEqualTo("{\"prompt\":\"user: Hi there\\n\"}");
    assertThat(post("/v1/embeddings", "{\"input\":[\"a\",\"b\"]}").body()).contains("\"index\":1");
    assertThat(post("/v1/completions", "{\"prompt\":\"a\"}").body()).contains("text_completion");
    assertThat(get("/nothing").status()).isEqualTo(404);
  }

  @Test
  void anEngineWithAKeyAsksForIt() {
    engine.apiKey("k");
    assertThat(get("/health").status()).isEqualTo(200);
    assertThat(get("/props").status()).isEqualTo(401);
    assertThat(get("/props", "Authorization: Bearer k").status()).isEqualTo(200);
    assertThat(get("/props", "X-Api-Key: k").status()).isEqualTo(200);
  }

  @Test
  void aLoadingEngineIsBusyOnEveryPath() {
    engine.loading(true);
    assertThat(get("/health").status()).isEqualTo(503);
    assertThat(post(ScriptedEngine.CHAT, WHOLE).body()).contains("Loading model");
  }

  @Test
  void aPromptBeyondTheContextIsRefusedAsLlamaServerDoes() {
    engine.contextTokens(3);
    TestClient.Reply reply = post(ScriptedEngine.CHAT, WHOLE);
    assertThat(reply.status()).isEqualTo(400);
    assertThat(EngineError.parse(reply.body().getBytes(UTF_8)).overflow())
        .contains(new EngineError.ContextOverflow(3, 3));
  }

  @Test
  void vllmRefusesInItsOwnWords() {
    engine.whenChat(Script.contextOverflowAsVllm(4097, 4096));
    TestClient.Reply reply = post(ScriptedEngine.CHAT, WHOLE);
    assertThat(EngineError.parse(reply.body().getBytes(UTF_8)).overflow())
        .contains(new EngineError.ContextOverflow(4097, 4096));
  }

  @Test
  void maxTokensEndTheAnswerWithLength() {
    String body =
        post(ScriptedEngine.CHAT, WHOLE.replace("\"model\"", "\"max_tokens\":2,\"model\"")).body();
    assertThat(body).contains("Hello from\"").contains("\"finish_reason\":\"length\"");
  }

  @Test
  void aStalledEngineSeesItsClientGo() {
    Gate gate = Gate.closed();
    engine.whenChat(Script.answer("a", "b").stallAfter(1, gate));
    TestClient client = TestClient.connect(engine.port()).post(ScriptedEngine.CHAT, STREAMED);
    gate.awaitArrived(1);
    assertThat(engine.inFlight()).isEqualTo(1);
    client.abandon();
    engine.chats().getFirst().awaitGone(SOON);
    engine.awaitInFlight(0);
    assertThat(engine.chats().getFirst().chunksSent()).isEqualTo(2);
  }

  @Test
  void aGateLetsPiecesThroughOneByOne() {
    Gate gate = Gate.closed();
    engine.whenChat(Script.answer("a", "b").gated(gate));
    try (TestClient client =
        TestClient.connect(engine.port()).post(ScriptedEngine.CHAT, STREAMED)) {
      assertThat(client.replyHead().status()).isEqualTo(200);
      assertThat(client.event()).contains("assistant");
      gate.pass(1);
      assertThat(client.event()).contains("\"content\":\"a\"");
      gate.awaitArrived(2);
      gate.open();
      assertThat(client.event()).contains("\"content\":\"b\"");
    }
  }

  @Test
  void anEngineThatDropsBeforeTheFirstByteIsCutShort() throws IOException {
    engine.whenChat(Script.dropBeforeFirstByte(), Script.closeBeforeFirstByte());
    for (int i = 0; i < 2; i++) {
      try (Http1 http = connect()) {
        assertThatThrownBy(() -> http.exchange(chat(STREAMED)))
            .isInstanceOfSatisfying(
                ReplyCutShort.class, e -> assertThat(e.beforeFirstByte()).isTrue());
      }
    }
  }

  @Test
  void anEngineThatDiesInMidStreamIsCutShort() throws IOException {
    engine.whenChat(
        Script.chunks(5).dropAfter(2),
        Script.chunks(5).closeAfter(2),
        Script.chunks(5).halfEventAfter(2));
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> stream(chat(STREAMED))).isInstanceOf(ReplyCutShort.class);
    }
  }

  @Test
  void anEngineThatDropsAfterDoneHasSaidAll() throws IOException {
    engine.whenChat(Script.chunks(2).dropAfterDone());
    try (TestClient client =
        TestClient.connect(engine.port()).post(ScriptedEngine.CHAT, STREAMED)) {
      assertThat(client.untilClosed()).contains("data: [DONE]").doesNotEndWith("0\r\n\r\n");
    }
  }

  @Test
  void anEngineThatBreaksHttpIsMalformed() throws IOException {
    engine.whenChat(Script.garbage(), Script.neverEndingHead());
    for (int i = 0; i < 2; i++) {
      try (Http1 http = connect()) {
        assertThatThrownBy(() -> http.exchange(chat(STREAMED))).isInstanceOf(ReplyMalformed.class);
      }
    }
  }

  @Test
  void aLineOf100MegabytesIsRefusedAtTheLimitOfAnEvent() {
    engine.whenChat(Script.hugeLine(100L << 20));
    assertThatThrownBy(() -> stream(chat(STREAMED)))
        .isInstanceOf(ReplyMalformed.class)
        .hasMessageContaining("1048576 bytes");
  }

  @Test
  void wrongLengthsAreSeen() throws IOException {
    engine.whenChat(Script.contentLengthTooLong(), Script.contentLengthTooShort());
    try (Http1 http = connect()) {
      HttpReply reply = http.exchange(chat(WHOLE));
      assertThatThrownBy(() -> reply.bytes(1 << 20)).isInstanceOf(ReplyCutShort.class);
    }
    try (Http1 http = connect()) {
      HttpReply reply = http.exchange(chat(WHOLE));
      assertThat(new String(reply.bytes(1 << 20), UTF_8)).isEqualTo("{}");
      assertThat(reply.reusable()).isFalse();
    }
  }

  @Test
  void everySpoiltStreamIsSpoiltAsAsked() throws IOException {
    engine.whenChat(
        Script.chunks(2).withoutDone(),
        Script.chunks(2).withoutFinishReason(),
        Script.chunks(2).errorAfter(1),
        Script.chunks(2).commentAfter(1),
        Script.chunks(2).garbageAfter(1),
        Script.chunks(2).http10(),
        Script.chunks(2).dripped().model("other"));
    assertThat(stream(chat(STREAMED))).contains("stop").doesNotContain("[DONE]");
    assertThat(stream(chat(STREAMED))).doesNotContain("stop").contains("[DONE]");
    assertThat(stream(chat(STREAMED))).contains("context shift failed").doesNotContain("[DONE]");
    assertThat(stream(chat(STREAMED))).contains("\n:\n\n").contains("[DONE]");
    assertThat(stream(chat(STREAMED))).contains("no JSON");
    assertThat(stream(chat(STREAMED))).contains("[DONE]");
    assertThat(stream(chat(STREAMED))).contains("\"model\":\"other\"");
  }

  @Test
  void invalidUtf8IsToldApart() throws IOException {
    engine.whenChat(Script.chunks(2).invalidUtf8After(1));
    try (Http1 http = connect()) {
      SseReader events =
          new SseReader(http.exchange(chat(STREAMED)).body(), SseReader.EVENT_BYTES_MAX);
      int invalid = 0;
      while (events.next()) {
        invalid += events.validUtf8() ? 0 : 1;
      }
      assertThat(invalid).isEqualTo(1);
    }
  }

  @Test
  void anEngineDiesAndComesBackOnItsPort() {
    Gate gate = Gate.closed();
    engine.whenChat(Script.stallThen(gate, Script.serverError()));
    TestClient client = TestClient.connect(engine.port()).post(ScriptedEngine.CHAT, STREAMED);
    gate.awaitArrived(1);
    engine.die();
    assertThat(client.untilClosed()).isEmpty();
    assertThatThrownBy(() -> TestClient.connect(engine.port()))
        .hasMessageContaining("nobody listens");
    engine.revive();
    assertThat(get("/health").status()).isEqualTo(200);
  }

  private String stream(HttpCall call) throws IOException {
    try (Http1 http = connect()) {
      SseReader events = new SseReader(http.exchange(call).body(), SseReader.EVENT_BYTES_MAX);
      StringBuilder all = new StringBuilder();
      while (events.next()) {
        all.append(new String(events.buffer(), events.start(), events.length(), UTF_8));
      }
      return all.toString();
    }
  }

  private Http1 connect() throws IOException {
    return new Http1(
        SocketConnection.dial(engine.address(), SOON), "127.0.0.1", Http1Limits.DEFAULTS);
  }

  private static HttpCall chat(String body) {
    return HttpCall.post(
        ScriptedEngine.CHAT,
        HttpHeaders.of("content-type", "application/json"),
        body.getBytes(UTF_8));
  }

  private TestClient.Reply get(String path, String... headers) {
    try (TestClient client = TestClient.connect(engine.port())) {
      return client.get(path, headers).reply();
    }
  }

  private TestClient.Reply post(String path, String body) {
    try (TestClient client = TestClient.connect(engine.port())) {
      return client.post(path, body).reply();
    }
  }
}
