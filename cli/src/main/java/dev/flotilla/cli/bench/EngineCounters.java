package dev.flotilla.cli.bench;

import dev.flotilla.bench.arms.ServerCounters;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Optional;

/** Asks servers for what they counted: {@code /metrics} at their root. */
final class EngineCounters {
  private static final Duration CONNECT_WITHIN = Duration.ofSeconds(2);
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(10);

  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(CONNECT_WITHIN)
          .build();

  /**
   * What the server counted until now; empty where it counts nothing that is known, or is not
   * there: its requests tell of that.
   *
   * @param api the base of its API
   */
  Optional<ServerCounters> read(URI api, Optional<String> key) throws InterruptedException {
    String base = api.toString().replaceFirst("/v1/?$", "");
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(base + "/metrics")).timeout(ANSWER_WITHIN);
    key.ifPresent(each -> request.header("Authorization", "Bearer " + each));
    try {
      HttpResponse<String> reply = http.send(request.build(), BodyHandlers.ofString());
      return reply.statusCode() == 200 ? ServerCounters.parse(reply.body()) : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
