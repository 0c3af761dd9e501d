package dev.flotilla.bench.load;

import dev.flotilla.bench.dataset.Server;
import dev.flotilla.wire.connection.Connection;
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
import dev.flotilla.wire.http.ReplyMalformed;
import dev.flotilla.wire.openai.EngineError;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The server that is measured: where it is, as whom it is asked, and what it serves. The key is in
 * its requests and in nothing that it says. Safe for any number of threads.
 */
public final class ServerUnderTest {
  private static final Duration ASK_LIMIT = Duration.ofSeconds(30);
  private static final int LIST_BYTES_MAX = 4 << 20;

  private final URI base;
  private final Origin origin;
  private final HttpHeaders headers;
  private final Optional<SSLContext> tls;
  private final boolean keyed;

  /**
   * @param address of the API; {@code /v1} is added where it has no path
   * @param key for {@code Authorization: Bearer}
   * @param extra further headers of each request; one called {@code Authorization} takes the key's
   *     place
   * @param tls what {@code https} trusts; empty for the machine's own authorities
   * @throws IllegalArgumentException if the address is none, or a header could not be written
   */
  public ServerUnderTest(
      URI address, Optional<String> key, HttpHeaders extra, Optional<SSLContext> tls) {
    this.base = api(address);
    this.origin = new Origin(base, tls);
    HttpHeaders all = HttpHeaders.of("Content-Type", "application/json");
    this.tls = tls;
    this.keyed = key.isPresent() || extra.first("authorization").isPresent();
    if (key.isPresent() && extra.first("authorization").isEmpty()) {
      all = all.with("Authorization", "Bearer " + key.get());
    }
    for (int i = 0; i < extra.size(); i++) {
      all = all.with(extra.name(i), extra.value(i));
    }
    this.headers = all;
  }

  private static URI api(URI address) {
    String text = address.toString();
    while (text.endsWith("/")) {
      text = text.substring(0, text.length() - 1);
    }
    String path = address.getRawPath();
    return URI.create(path == null || path.isEmpty() || path.equals("/") ? text + "/v1" : text);
  }

  /** Base of the API, such as {@code http://127.0.0.1:8484/v1}. */
  public URI base() {
    return base;
  }

  /**
   * The same server, for the questions of datasets: who counts its tokens, how long its context is.
   */
  public Server questions() {
    return new Server(base, headers, tls);
  }

  /**
   * The models that it lists; empty where it has no list to show ({@code 404}).
   *
   * @throws ServerUnusable if it is not there, does not speak OpenAI's API, or refuses to answer;
   *     the message is one sentence for the user
   */
  public List<String> models() throws ServerUnusable {
    Answer answer = ask(base.getRawPath() + "/models");
    return models(answer.status(), answer.body());
  }

  /**
   * Requests that llama-server works on at once, by its {@code /props}; empty for other servers.
   */
  public OptionalInt slots() throws ServerUnusable {
    String root = base.getRawPath();
    Answer answer =
        ask((root.endsWith("/v1") ? root.substring(0, root.length() - 3) : root) + "/props");
    try {
      int slots = JsonMapper.shared().readTree(answer.body()).path("total_slots").asInt(0);
      return answer.status() == 200 && slots > 0 ? OptionalInt.of(slots) : OptionalInt.empty();
    } catch (JacksonException _) {
      return OptionalInt.empty();
    }
  }

  @SuppressWarnings("ArrayRecordComponent") // made, read once and forgotten
  private record Answer(int status, byte[] body) {}

  private Answer ask(String path) throws ServerUnusable {
    try (Deadlines deadlines = new Deadlines(System::nanoTime).start();
        Connection connection = connect(LoadLimits.DEFAULTS.connect());
        Deadline deadline =
            deadlines.watch(connection, new DeadlineLimits(ASK_LIMIT, ASK_LIMIT, ASK_LIMIT))) {
      try {
        HttpReply reply =
            new Http1(connection, origin.hostHeader(), Http1Limits.DEFAULTS)
                .exchange(HttpCall.get(path, headers));
        return new Answer(reply.status(), reply.bytes(LIST_BYTES_MAX));
      } catch (ReplyMalformed | ReplyCutShort e) {
        throw unusable(deadline.explain(e));
      }
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  private List<String> models(int status, byte[] body) throws ServerUnusable {
    if (status == 404 || status == 405 || status == 501) {
      return List.of();
    }
    if (status != 200) {
      String said = EngineError.parse(body).message();
      String hint =
          (status == 401 || status == 403) && !keyed ? "; give a key with FLOTILLA_KEY" : "";
      throw new ServerUnusable(
          base + " answers " + status + (said.isEmpty() ? "" : ": " + said) + hint);
    }
    try {
      JsonNode data = JsonMapper.shared().readTree(body).path("data");
      if (data.isArray()) {
        List<String> names = new ArrayList<>();
        data.forEach(model -> names.add(model.path("id").asString("")));
        return names;
      }
    } catch (JacksonException _) {
      // Said below, as for JSON that is something else.
    }
    throw new ServerUnusable(
        base + "/models answers, but not as OpenAI's API does; is the address right?");
  }

  private ServerUnusable unusable(IOException e) {
    if (e instanceof ServerUnusable already) {
      return already;
    }
    if (e instanceof ReplyMalformed) {
      return new ServerUnusable(
          base
              + " does not answer in HTTP: "
              + e.getMessage()
              + (base.getScheme().equalsIgnoreCase("http")
                  ? "; if it speaks TLS, write https://…"
                  : ""),
          e);
    }
    if (e.getCause() instanceof SSLException no
        && String.valueOf(no.getMessage()).contains("Unsupported or unrecognized SSL message")) {
      return new ServerUnusable(
          base + " does not speak TLS; if it speaks plain HTTP, write http://…", e);
    }
    if (e.getCause() instanceof SSLException) {
      return new ServerUnusable(
          e.getMessage() + "; if its authority is a private one, name it with --ca FILE", e);
    }
    return new ServerUnusable("can't measure " + base + ": " + Failures.words(e), e);
  }

  Connection connect(Duration within) throws IOException {
    return origin.connect(within);
  }

  String hostHeader() {
    return origin.hostHeader();
  }

  HttpCall post(String path, byte[] body) {
    return HttpCall.post(base.getRawPath() + path, headers, body);
  }
}
