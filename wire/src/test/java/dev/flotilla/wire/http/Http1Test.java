package dev.flotilla.wire.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests as they go out, and replies good and bad as they come in. */
class Http1Test {
  private static final HttpCall GET = HttpCall.get("/v1/models", HttpHeaders.NONE);
  private static final int MAX = 1 << 20;

  @Test
  void aRequestIsOneWrite() throws IOException {
    PiecedConnection connection = new PiecedConnection(bytes("HTTP/1.1 204 No Content\r\n\r\n"));
    Http1 http = new Http1(connection, "127.0.0.1:8080", Http1Limits.DEFAULTS);
    http.exchange(
        HttpCall.post(
            "/v1/chat/completions?x=1",
            HttpHeaders.of("Content-Type", "application/json").with("X-Api-Key", "k"),
            bytes("{}")));
    assertThat(connection.sent())
        .isEqualTo(
            "POST /v1/chat/completions?x=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n"
                + "Content-Type: application/json\r\nX-Api-Key: k\r\nContent-Length: 2\r\n\r\n{}");
    assertThat(connection.writes()).isEqualTo(1);
  }

  @Test
  void aLargeRequestIsNotCopiedWhole() throws IOException {
    PiecedConnection connection = new PiecedConnection(bytes("HTTP/1.1 204 No Content\r\n\r\n"));
    byte[] body = new byte[1 << 20];
    java.util.Arrays.fill(body, (byte) 'x');
    new Http1(connection, "h", Http1Limits.DEFAULTS)
        .exchange(HttpCall.post("/", HttpHeaders.NONE, body));
    assertThat(connection.sent()).hasSizeGreaterThan(body.length).endsWith("x".repeat(1000));
    assertThat(connection.writes()).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"a\r\nb", "a\nb", "a\rb", "a\u0000b", "a\u007f", "a\u0100"})
  void aHeaderThatWouldBeTwoIsRefused(String hostile) {
    assertThatIllegalArgumentException().isThrownBy(() -> HttpHeaders.of("x", hostile));
    assertThatIllegalArgumentException().isThrownBy(() -> HttpHeaders.of(hostile, "x"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> HttpCall.get("/" + hostile, HttpHeaders.NONE));
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> new Http1(new PiecedConnection(new byte[0]), hostile, Http1Limits.DEFAULTS));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"Host", "content-length", "Transfer-Encoding", "connection", "Expect", "upgrade"})
  void framingIsTheClientsOwn(String name) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> HttpCall.get("/", HttpHeaders.of(name, "x")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"get", "", "GET /", "GE\nT"})
  void aMethodIsAWord(String method) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new HttpCall(method, "/", HttpHeaders.NONE, new byte[0]));
  }

  @Test
  void aReplyWithALengthIsReadToItsEndAndTheConnectionGoesOn() throws IOException {
    String hello = "HTTP/1.1 200 OK\r\nServer: x\r\nContent-LENGTH: 5\r\n\r\nhello";
    String nothing = "HTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n";
    Http1 http =
        new Http1(
            PiecedConnection.cutAt(bytes(hello + nothing), hello.length()),
            "h",
            Http1Limits.DEFAULTS);
    HttpReply first = http.exchange(GET);
    assertThat(first.status()).isEqualTo(200);
    assertThat(first.headers().first("SERVER")).contains("x");
    assertThat(first.reusable()).isFalse();
    assertThat(text(first)).isEqualTo("hello");
    assertThat(first.reusable()).isTrue();
    HttpReply second = http.exchange(GET);
    assertThat(second.status()).isEqualTo(404);
    assertThat(second.reusable()).isTrue();
  }

  @Test
  void aReadGathersTheChunksThatHaveArrived() throws IOException {
    String head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n";
    String chunks = "3\r\nabc\r\n4;ext=1\r\ndefg\r\n0\r\nX-Trailer: 1\r\n\r\n";
    HttpReply reply = http(head + chunks).exchange(GET);
    InputStream body = reply.body();
    byte[] read = new byte[100];
    assertThat(body.read(read)).isEqualTo(7);
    assertThat(new String(read, 0, 7, UTF_8)).isEqualTo("abcdefg");
    assertThat(body.read(read)).isEqualTo(-1);
    assertThat(reply.reusable()).isTrue();
  }

  @Test
  void aReadDoesNotWaitForTheRestOfAChunk() throws IOException {
    String head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    String arrived = "3\r\nabc\r\n4\r";
    byte[] all = bytes(head + arrived + "\ndefg\r\n0\r\n\r\n");
    HttpReply reply =
        new Http1(
                PiecedConnection.cutAt(all, head.length() + arrived.length()),
                "h",
                Http1Limits.DEFAULTS)
            .exchange(GET);
    byte[] read = new byte[100];
    assertThat(reply.body().read(read)).isEqualTo(3);
    assertThat(reply.body().read(read)).isEqualTo(4);
    assertThat(reply.body().read(read)).isEqualTo(-1);
  }

  @Test
  void aReplyMayEndWithTheConnection() throws IOException {
    HttpReply reply = http("HTTP/1.1 200 OK\r\n\r\nall of it").exchange(GET);
    assertThat(text(reply)).isEqualTo("all of it");
    assertThat(reply.reusable()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "HTTP/1.0, '', false",
    "HTTP/1.0, Connection: keep-alive, true",
    "HTTP/1.1, '', true",
    "HTTP/1.1, Connection: close, false",
    "HTTP/1.1, 'Connection: x, Close', false",
    "HTTP/1.1, Connection: keep-alive, true",
  })
  void theEngineSaysWhetherItKeepsTheConnection(String version, String header, boolean kept)
      throws IOException {
    String line = header.isEmpty() ? "" : header + "\r\n";
    HttpReply reply =
        http(version + " 200 OK\r\n" + line + "Content-Length: 2\r\n\r\nok").exchange(GET);
    assertThat(text(reply)).isEqualTo("ok");
    assertThat(reply.reusable()).isEqualTo(kept);
  }

  @Test
  void interimRepliesArePassedOverUpToALimit() throws IOException {
    String interim = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n";
    String last = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    assertThat(http(interim.repeat(8) + last).exchange(GET).status()).isEqualTo(200);
    assertThatThrownBy(() -> http(interim.repeat(9) + last).exchange(GET))
        .isInstanceOf(ReplyMalformed.class)
        .hasMessageContaining("8 interim");
  }

  @ParameterizedTest
  @ValueSource(ints = {204, 304})
  void someRepliesHaveNoBody(int status) throws IOException {
    HttpReply reply = http("HTTP/1.1 " + status + " X\r\n\r\n").exchange(GET);
    assertThat(text(reply)).isEmpty();
    assertThat(reply.reusable()).isTrue();
  }

  @Test
  void aReplyToHeadHasNoBody() throws IOException {
    HttpReply reply =
        http("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            .exchange(new HttpCall("HEAD", "/", HttpHeaders.NONE, new byte[0]));
    assertThat(text(reply)).isEmpty();
    assertThat(reply.reusable()).isTrue();
  }

  @Test
  void aReplyWithoutContentThatClaimsSomeEndsTheConnection() throws IOException {
    HttpReply reply = http("HTTP/1.1 204 X\r\nContent-Length: 3\r\n\r\n").exchange(GET);
    assertThat(reply.reusable()).isFalse();
  }

  @Test
  void bytesBehindAReplyEndTheConnection() throws IOException {
    HttpReply reply = http("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok!").exchange(GET);
    assertThat(text(reply)).isEqualTo("ok");
    assertThat(reply.reusable()).isFalse();
  }

  @Test
  void noExchangeBeginsBeforeTheLastOneIsOver() throws IOException {
    Http1 http = http("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    http.exchange(GET);
    assertThatIllegalStateException().isThrownBy(() -> http.exchange(GET));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\n\n",
        "HTTP/2 200\r\n\r\n",
        "HTTP/1.2 200 OK\r\n\r\n",
        "http/1.1 200 OK\r\n\r\n",
        "HTTP/1.1  200 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 600 OK\r\n\r\n",
        "HTTP/1.1 +20 OK\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "SSH-2.0-OpenSSH_9.6\r\n",
        "\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 0x1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999999\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n",
        "HTTP/1.1 200 OK\r\n X: a\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX : a\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: a\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\u0000b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n",
      })
  void aHeadThatTwoReadersCouldReadTwoWaysIsRefused(String reply) {
    assertThatThrownBy(() -> http(reply).exchange(GET)).isInstanceOf(ReplyMalformed.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "g\r\n",
        "\r\n",
        "-1\r\n",
        "+1\r\na",
        "0x1\r\na",
        "1 \r\na",
        "1 2\r\n",
        "3\nabc\r\n",
        "3\r\nabcd\r\n",
        "3\r\nabc\n",
        "ffffffffffffffff\r\n",
        "1000000000000000\r\n",
        "0\r\nno colon\r\n\r\n",
        "0\r\n folded: 1\r\n\r\n",
      })
  void brokenChunksAreRefused(String chunks) {
    assertThatThrownBy(() -> text(chunked(chunks))).isInstanceOf(ReplyMalformed.class);
  }

  @Test
  void everyLimitIsNamed() {
    assertMalformed("HTTP/1.1 200 " + "x".repeat(9000) + "\r\n\r\n", "status line", "8192 bytes");
    assertMalformed(
        "HTTP/1.1 200 OK\r\nX: " + "x".repeat(8190) + "\r\n\r\n", "a header", "8192 bytes");
    assertMalformed("HTTP/1.1 200 OK\r\n" + "X: y\r\n".repeat(101) + "\r\n", "100 headers");
    assertMalformed(
        "HTTP/1.1 200 OK\r\n" + ("X: " + "y".repeat(8000) + "\r\n").repeat(9) + "\r\n",
        "65536 bytes");
    assertThatThrownBy(() -> text(chunked("1;" + "x".repeat(300) + "\r\na\r\n0\r\n\r\n")))
        .isInstanceOf(ReplyMalformed.class)
        .hasMessageContaining("256 bytes");
    assertThatThrownBy(() -> text(chunked("0\r\n" + "X: yyyyyyyyyyyy\r\n".repeat(600) + "\r\n")))
        .isInstanceOf(ReplyMalformed.class)
        .hasMessageContaining("trailers");
    assertThatThrownBy(() ->
            http("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n12345678901")
                .exchange(GET)
                .bytes(10))
        .isInstanceOf(ReplyMalformed.class)
        .hasMessageContaining("10 bytes");
  }

  @Test
  void exactlyTheLimitIsTaken() throws IOException {
    String line = "X: " + "x".repeat(8192 - 3);
    assertThat(http("HTTP/1.1 200 OK\r\n" + line + "\r\n\r\n").exchange(GET).headers().size())
        .isEqualTo(1);
    String headers = "X: y\r\n".repeat(100);
    assertThat(http("HTTP/1.1 200 OK\r\n" + headers + "\r\n").exchange(GET).headers().size())
        .isEqualTo(100);
    assertThat(
            http("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1234567890").exchange(GET).bytes(10))
        .hasSize(10);
  }

  @ParameterizedTest
  @CsvSource({
    "'', true",
    "'HTTP/1.1 200 O', false",
    "'HTTP/1.1 200 OK\r\nX: y\r\n', false",
  })
  void aConnectionThatEndsBeforeTheHeadSaysHowMuchCame(String reply, boolean nothing) {
    assertThatThrownBy(() -> http(reply).exchange(GET))
        .isInstanceOfSatisfying(
            ReplyCutShort.class, e -> assertThat(e.beforeFirstByte()).isEqualTo(nothing));
  }

  @Test
  void aBodyThatIsCutShortIsHandedOutFirst() throws IOException {
    for (String reply :
        new String[] {
          "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhello",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
        }) {
      HttpReply cut = http(reply).exchange(GET);
      byte[] read = new byte[100];
      assertThat(cut.body().read(read)).isEqualTo(5);
      for (int i = 0; i < 2; i++) {
        assertThatThrownBy(() -> cut.body().read(read))
            .isInstanceOfSatisfying(
                ReplyCutShort.class, e -> assertThat(e.beforeFirstByte()).isFalse());
      }
      assertThat(cut.reusable()).isFalse();
    }
  }

  @Test
  void aDeadConnectionIsSeenWhileSending() {
    PiecedConnection connection = new PiecedConnection(new byte[0]);
    connection.close();
    assertThatThrownBy(() -> new Http1(connection, "h", Http1Limits.DEFAULTS).exchange(GET))
        .isInstanceOfSatisfying(ReplyCutShort.class, e -> assertThat(e.beforeFirstByte()).isTrue());
  }

  @Test
  void headersAreNeverPrintedWithTheirValues() {
    assertThat(HttpHeaders.of("Authorization", "Bearer secret", "X", "y"))
        .hasToString("HttpHeaders: Authorization, X");
    assertThat(HttpHeaders.of("A", "1", "b", "2", "a", "3").all("A")).containsExactly("1", "3");
  }

  private static void assertMalformed(String reply, String... words) {
    assertThatThrownBy(() -> http(reply).exchange(GET))
        .isInstanceOf(ReplyMalformed.class)
        .message()
        .contains(words);
  }

  private static HttpReply chunked(String chunks) throws IOException {
    return http("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks).exchange(GET);
  }

  private static String text(HttpReply reply) throws IOException {
    return new String(reply.bytes(MAX), UTF_8);
  }

  private static Http1 http(String reply) {
    return new Http1(new PiecedConnection(bytes(reply)), "h", Http1Limits.DEFAULTS);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(ISO_8859_1);
  }
}
