package dev.flotilla.agent.engine;

import dev.flotilla.wire.connection.SocketConnection;
import dev.flotilla.wire.http.Http1;
import dev.flotilla.wire.http.Http1Limits;
import dev.flotilla.wire.http.HttpCall;
import dev.flotilla.wire.http.HttpHeaders;
import dev.flotilla.wire.http.HttpReply;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Small questions to an engine on this machine, each on a connection of its own. */
final class EngineHttp {
  private static final int CONNECT_MILLIS_MAX = 1000;
  private static final Duration READ_MAX = Duration.ofSeconds(5);
  private static final int REPLY_BYTES_MAX = 4 << 20;

  private EngineHttp() {}

  record Answer(int status, String body) {
    JsonNode json() {
      return JsonMapper.shared().readTree(body);
    }
  }

  /**
   * Asks for something that the engine has at hand.
   *
   * @param key goes as a bearer token; empty for none
   */
  static Answer get(int port, String target, String key) throws IOException {
    return exchange(port, HttpCall.get(target, headers(key)), READ_MAX);
  }

  /** Asks for something that the engine may compute for {@code readMax}. */
  static Answer post(int port, String target, String key, String json, Duration readMax)
      throws IOException {
    HttpHeaders headers = headers(key).with("Content-Type", "application/json");
    byte[] body = json.getBytes(StandardCharsets.UTF_8);
    return exchange(port, HttpCall.post(target, headers, body), readMax);
  }

  private static HttpHeaders headers(String key) {
    return key.isEmpty() ? HttpHeaders.NONE : HttpHeaders.of("Authorization", "Bearer " + key);
  }

  private static Answer exchange(int port, HttpCall call, Duration readMax) throws IOException {
    Socket socket = new Socket();
    try {
      socket.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), port), CONNECT_MILLIS_MAX);
      socket.setSoTimeout((int) readMax.toMillis());
      try (Http1 client =
          new Http1(new SocketConnection(socket), "127.0.0.1:" + port, Http1Limits.DEFAULTS)) {
        HttpReply reply = client.exchange(call);
        String body = new String(reply.body().readNBytes(REPLY_BYTES_MAX), StandardCharsets.UTF_8);
        return new Answer(reply.status(), body);
      }
    } finally {
      socket.close();
    }
  }
}
