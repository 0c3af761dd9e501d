package dev.flotilla.shape.probe;

import dev.flotilla.wire.connection.Connection;
import dev.flotilla.wire.connection.Deadline;
import dev.flotilla.wire.connection.DeadlineLimits;
import dev.flotilla.wire.connection.Deadlines;
import dev.flotilla.wire.connection.Origin;
import dev.flotilla.wire.http.Http1;
import dev.flotilla.wire.http.Http1Limits;
import dev.flotilla.wire.http.HttpCall;
import dev.flotilla.wire.http.HttpHeaders;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/**
 * Probes to an address, one connection for each, so that a server which breaks one breaks no other.
 * The key is in its requests and in nothing that it says. Safe for any number of threads.
 */
public final class UrlCaller implements Caller, AutoCloseable {
  private final Origin origin;
  private final String basePath;
  private final HttpHeaders headers;
  private final Deadlines deadlines = new Deadlines(System::nanoTime).start();

  /**
   * @param address of the server, with or without {@code /v1}
   * @param key for {@code Authorization: Bearer}
   * @param tls what {@code https} trusts; empty for the machine's own authorities
   * @throws IllegalArgumentException if the address is none, or the key can't be a header
   */
  public UrlCaller(URI address, Optional<String> key, Optional<SSLContext> tls) {
    this.origin = new Origin(address, tls);
    String path = Optional.ofNullable(address.getRawPath()).orElse("");
    while (path.endsWith("/")) {
      path = path.substring(0, path.length() - 1);
    }
    this.basePath = path.endsWith("/v1") ? path.substring(0, path.length() - 3) : path;
    HttpHeaders all = HttpHeaders.of("Content-Type", "application/json");
    this.headers = key.isPresent() ? all.with("Authorization", "Bearer " + key.get()) : all;
  }

  @Override
  public ProbeReply call(ProbeCall call, ProbeLimits limits) throws IOException {
    return exchange(HttpCall.post(basePath + call.path(), headers, call.bytes()), limits);
  }

  /**
   * Asks for something else than an answer, such as {@code /v1/models}.
   *
   * @throws IOException as {@link #call}
   */
  public ProbeReply get(String path, ProbeLimits limits) throws IOException {
    return exchange(HttpCall.get(basePath + path, headers), limits);
  }

  private ProbeReply exchange(HttpCall call, ProbeLimits limits) throws IOException {
    Duration time = limits.call();
    try (Connection connection = origin.connect(limits.connect());
        Deadline deadline = deadlines.watch(connection, new DeadlineLimits(time, time, time))) {
      try {
        Http1 http = new Http1(connection, origin.hostHeader(), Http1Limits.DEFAULTS);
        return ProbeReply.read(http.exchange(call), limits.replyBytesMax(), deadline::explain);
      } catch (IOException e) {
        throw deadline.explain(e);
      }
    }
  }

  @Override
  public void close() {
    deadlines.close();
  }
}
