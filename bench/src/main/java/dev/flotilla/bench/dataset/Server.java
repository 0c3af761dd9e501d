package dev.flotilla.bench.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.wire.connection.Deadline;
import dev.flotilla.wire.connection.DeadlineLimits;
import dev.flotilla.wire.connection.Deadlines;
import dev.flotilla.wire.connection.Origin;
import dev.flotilla.wire.http.Http1;
import dev.flotilla.wire.http.Http1Limits;
import dev.flotilla.wire.http.HttpCall;
import dev.flotilla.wire.http.HttpHeaders;
import dev.flotilla.wire.http.HttpReply;
import dev.flotilla.wire.http.ReplyCutShort;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import javax.net.ssl.SSLContext;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Asks the server under test what is no load: how it counts tokens, how long its context is. Any
 * thread may ask; connections are kept for the next question until {@link #close()}, which also
 * ends the questions that wait for an answer: they fail, and so does each one after them.
 */
public final class Server implements AutoCloseable {
  private static final Duration CONNECT = Duration.ofSeconds(5);
  private static final int REPLY_BYTES_MAX = 64 << 20;
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private final URI url;
  private final String base;
  private final Origin origin;
  private final HttpHeaders headers;
  private final Deadlines deadlines = new Deadlines(System::nanoTime).start();
  private final ConcurrentLinkedDeque<Http1> idle = new ConcurrentLinkedDeque<>();
  private final Set<Http1> asking = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /**
   * @param url the server's address, with or without {@code /v1} at its end
   * @param headers sent with each question: a key, and what else the load's requests carry
   * @param tls what {@code https} trusts; empty for the machine's own authorities
   * @throws IllegalArgumentException where that is no address
   */
  public Server(URI url, HttpHeaders headers, Optional<SSLContext> tls) {
    this.url = url;
    this.origin = new Origin(url, tls);
    this.headers = headers;
    String path = url.getRawPath() == null ? "" : url.getRawPath();
    while (path.endsWith("/")) {
      path = path.substring(0, path.length() - 1);
    }
    this.base = path.endsWith("/v1") ? path.substring(0, path.length() - "/v1".length()) : path;
  }

  /** As it was given. */
  public URI url() {
    return url;
  }

  /** What a server answered; its body is read whole. */
  record Reply(int status, String body) {

    boolean ok() {
      return status == 200;
    }

    /** The body; a missing node where it is no JSON. */
    JsonNode json() {
      try {
        return MAPPER.readTree(body);
      } catch (JacksonException e) {
        return MAPPER.missingNode();
      }
    }

    /** What went wrong, in the server's words where it has some. */
    String trouble() {
      JsonNode json = json();
      JsonNode error = json.path("error");
      String said =
          error.isString()
              ? error.asString()
              : error.path("message").asString(json.path("message").asString(""));
      return status + (said.isBlank() ? "" : ": " + said.strip().replaceAll("\\s+", " "));
    }
  }

  /**
   * @param path from the server's root, such as {@code /v1/models} or {@code /tokenize}
   * @throws IOException in words, where there is no whole answer within that time
   */
  Reply get(String path, Duration within) throws IOException {
    return ask(HttpCall.get(base + path, headers), within);
  }

  /** As {@link #get}, with a document. */
  Reply post(String path, JsonNode document, Duration within) throws IOException {
    byte[] body = MAPPER.writeValueAsString(document).getBytes(UTF_8);
    return ask(
        HttpCall.post(base + path, headers.with("Content-Type", "application/json"), body), within);
  }

  private Reply ask(HttpCall call, Duration within) throws IOException {
    Http1 kept = idle.poll();
    if (kept != null) {
      try {
        return exchange(kept, call, within);
      } catch (ReplyCutShort cut) {
        if (!cut.beforeFirstByte()) {
          throw cut;
        }
        // The server had closed the connection while it was idle: that says nothing of the call.
      }
    }
    return exchange(
        new Http1(origin.connect(CONNECT), origin.hostHeader(), Http1Limits.DEFAULTS),
        call,
        within);
  }

  private Reply exchange(Http1 http, HttpCall call, Duration within) throws IOException {
    boolean reusable = false;
    asking.add(http);
    Deadline deadline =
        deadlines.watch(http.connection(), new DeadlineLimits(within, within, within));
    try {
      if (closed) {
        throw new IOException("nobody waits for the answer any more");
      }
      HttpReply reply = http.exchange(call);
      byte[] body = reply.bytes(REPLY_BYTES_MAX);
      reusable = reply.reusable();
      return new Reply(reply.status(), new String(body, UTF_8));
    } catch (IOException e) {
      throw deadline.explain(e);
    } finally {
      deadline.close();
      asking.remove(http);
      if (reusable && deadline.exceeded().isEmpty() && !closed) {
        idle.push(http);
      } else {
        http.close();
      }
    }
  }

  /** Ends all connections, from any thread; a second call does nothing. */
  @Override
  public void close() {
    closed = true;
    asking.forEach(Http1::close);
    for (Http1 http = idle.poll(); http != null; http = idle.poll()) {
      http.close();
    }
    deadlines.close();
  }
}
