package dev.flotilla.cli.serve;

import dev.flotilla.cli.output.Failure;
import dev.flotilla.hub.Hub;
import dev.flotilla.hub.HubConfig;
import dev.flotilla.hub.HubRefused;
import dev.flotilla.hub.store.StoreFailed;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Stream;
import picocli.CommandLine.Command;

/**
 * What the JVM watches when the build makes its AOT cache: a hub in a folder of its own, on a port
 * of its own, that does once what every start does, and often what every request does. Ends by
 * itself.
 */
@Command(name = "train", hidden = true, description = "Runs a hub for the AOT cache.")
public final class Train implements Callable<Integer> {
  private static final int ROUNDS = 150;
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(10);

  private static final List<String> PAGES =
      List.of(
          "/health",
          "/ready",
          "/metrics",
          "/",
          "/v1/models",
          "/api/status",
          "/api/workers",
          "/api/nodes",
          "/api/models",
          "/api/events");

  private final Consumer<String> clientCommands;
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(ANSWER_LIMIT)
          .build();

  /**
   * @param clientCommands runs the commands that ask a hub against the one at this address
   */
  public Train(Consumer<String> clientCommands) {
    this.clientCommands = clientCommands;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path home = Files.createTempDirectory("flotilla-train");
    try (TrainingUpstream upstream = new TrainingUpstream()) {
      Logs.start(home, "hub", false);
      HubConfig config = HubConfig.local(home);
      try (Hub hub = Hub.start(config)) {
        hub.revisions().apply(fleet(upstream.port()), "fleet.yaml", "training", false);
        use(hub.address());
        clientCommands.accept(hub.address().toString());
      }
    } catch (HubRefused | StoreFailed e) {
      throw new Failure("the training run failed: " + e.getMessage(), e);
    } finally {
      Logs.stop();
      delete(home);
    }
    return 0;
  }

  private static String fleet(int port) {
    return """
    backends:
      upstream:
        url: http://127.0.0.1:%d/v1
        model: m
        slots: 4
    routes:
      m:
        match: { models: [m] }
        strategy: fastest
        to: [ { backend: upstream } ]
    """
        .formatted(port);
  }

  private void use(URI hub) throws IOException, InterruptedException {
    for (String page : PAGES) {
      send(HttpRequest.newBuilder(hub.resolve(page)).GET(), 0);
    }
    URI address = hub.resolve("/v1/chat/completions");
    for (int round = 0; round < ROUNDS; round++) {
      String body =
          "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Say hi\"}],\"stream\":"
              + (round % 2 == 0)
              + "}";
      send(HttpRequest.newBuilder(address).POST(BodyPublishers.ofString(body)), 200);
    }
  }

  private void send(HttpRequest.Builder request, int status)
      throws IOException, InterruptedException {
    var response = http.send(request.timeout(ANSWER_LIMIT).build(), BodyHandlers.ofByteArray());
    if (status != 0 && response.statusCode() != status) {
      throw new Failure(response.uri() + " answered " + response.statusCode() + " in the training");
    }
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
