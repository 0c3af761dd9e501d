package dev.flotilla.hub;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A whole hub, asked over HTTP. */
final class HubCalls {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private HubCalls() {}

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
