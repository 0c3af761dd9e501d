package dev.flotilla.hub;

import static org.awaitility.Awaitility.await;

import dev.flotilla.hub.fleet.NodeView;
import dev.flotilla.hub.lanes.TestAgent;
import dev.flotilla.hub.proof.ProofLimits;
import dev.flotilla.wire.lanes.ControlMessage;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A whole hub of its own on loopback: started, joined by agents, asked over HTTP. */
final class HubCalls {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private HubCalls() {}

  /** A hub that proves its workers within these limits. */
  static Hub start(Path home, ProofLimits limits) throws Exception {
    return Hub.start(HubConfig.local(home).proving(limits));
  }

  /** An agent enrols, joins and lives, on a machine of that name. */
  static TestAgent joins(Hub hub, String node, String host) throws Exception {
    String agent = "id-of-" + node;
    String enrolment =
        "{\"token\":\"%s\",\"node\":\"%s\",\"agentId\":\"%s\"}"
            .formatted(hub.tokens().oneShot(), node, agent);
    String credential = json(post(hub, "/api/enrol", enrolment)).path("credential").asString();
    return new TestAgent(hub.address().getPort(), node, host, 1, agent, credential)
        .lanes(8)
        .beats();
  }

  /** Waits until that many agents are connected. */
  static void awaitNodes(Hub hub, int count) {
    await()
        .atMost(LIMIT)
        .until(() -> hub.fleet().nodes().stream().filter(NodeView::connected).count() == count);
  }

  /** Waits until the agent was told to run the worker. */
  static void awaitWanted(TestAgent agent, String worker) {
    await()
        .atMost(LIMIT)
        .until(() ->
            agent
                .heard(ControlMessage.Desired.class)
                .filter(desired ->
                    desired.workers().stream().anyMatch(each -> each.id().equals(worker)))
                .isPresent());
  }

  static URI uri(Hub hub, String path) {
    return URI.create(hub.address() + path);
  }

  static HttpRequest.Builder with(String key, HttpRequest.Builder request) {
    return request.header("Authorization", "Bearer " + key);
  }

  static HttpResponse<String> get(Hub hub, String path) throws Exception {
    return send(HttpRequest.newBuilder(uri(hub, path)));
  }

  static HttpResponse<String> get(Hub hub, String path, String key) throws Exception {
    return send(with(key, HttpRequest.newBuilder(uri(hub, path))));
  }

  static HttpResponse<String> post(Hub hub, String path, String body) throws Exception {
    return send(HttpRequest.newBuilder(uri(hub, path)).POST(BodyPublishers.ofString(body)));
  }

  static HttpResponse<String> post(Hub hub, String path, String body, String key) throws Exception {
    return send(
        with(key, HttpRequest.newBuilder(uri(hub, path)).POST(BodyPublishers.ofString(body))));
  }

  static HttpResponse<String> delete(Hub hub, String path) throws Exception {
    return send(HttpRequest.newBuilder(uri(hub, path)).DELETE());
  }

  static HttpResponse<String> send(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    return HTTP.send(request.timeout(LIMIT).build(), BodyHandlers.ofString());
  }

  static JsonNode json(HttpResponse<String> response) {
    return JsonMapper.shared().readTree(response.body());
  }

  /** The message of an error's body. */
  static String message(HttpResponse<String> response) {
    return json(response).at("/error/message").asString();
  }
}
