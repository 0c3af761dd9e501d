package dev.flotilla.hub;

import static dev.flotilla.hub.HubCalls.delete;
import static dev.flotilla.hub.HubCalls.get;
import static dev.flotilla.hub.HubCalls.json;
import static dev.flotilla.hub.HubCalls.message;
import static dev.flotilla.hub.HubCalls.post;
import static dev.flotilla.hub.HubCalls.send;
import static dev.flotilla.hub.HubCalls.uri;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.flotilla.hub.keys.Keys.Creation;
import dev.flotilla.hub.keys.Keys.Role;
import dev.flotilla.hub.proof.ProofLimits;
import dev.flotilla.hub.store.Store;
import dev.flotilla.hub.store.StoreLimits;
import dev.flotilla.testkit.client.TestClient;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The API of a whole hub on loopback, asked as the command line, a browser and a client ask it. */
final class HubApiTest {
  private static final String MODEL = "talk";

  @TempDir private Path home;

  @Test
  void aBackendIsAppliedAndServes() throws Exception {
    try (ScriptedEngine engine = ScriptedEngine.start();
        Hub hub = Hub.start(config(false))) {
      assertThat(get(hub, "/ready").statusCode()).isEqualTo(503);

      JsonNode dry = json(post(hub, "/api/apply?dry-run=true", fleet(engine)));
      assertThat(dry.path("message").asString()).contains("nothing was changed");
      assertThat(dry.path("changes")).hasSize(2);
      assertThat(json(get(hub, "/api/status")).path("revision").asInt()).isZero();

      JsonNode applied = json(post(hub, "/api/apply", fleet(engine)));
      assertThat(applied.path("message").asString()).isEqualTo("revision 1 is in force");
      assertThat(json(post(hub, "/api/apply", fleet(engine))).path("message").asString())
          .isEqualTo("nothing changes; revision 1 stays");

      HttpResponse<String> chat =
          post(
              hub,
              "/v1/chat/completions",
              "{\"model\":\"talk\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
      assertThat(chat.statusCode()).as(chat.body()).isEqualTo(200);
      assertThat(json(chat).path("model").asString()).isEqualTo(MODEL);
      assertThat(chat.headers().firstValue("x-flotilla-revision")).hasValue("1");
      assertThat(get(hub, "/ready").statusCode()).isEqualTo(200);
      assertThat(json(get(hub, "/api/backends")).get(0).path("served").asInt()).isEqualTo(1);
      assertThat(json(get(hub, "/api/routes")).get(0).path("to").get(0).asString())
          .isEqualTo("backend engine");
      assertThat(get(hub, "/metrics").body()).contains("flotilla_revision 1.0");
    }
  }

  @Test
  void aFileThatIsNotInOrderChangesNothingAndSaysSoEverywhere() throws Exception {
    try (Hub hub = Hub.start(config(false))) {
      HttpResponse<String> refused = post(hub, "/api/apply?file=mine.yaml", "modles: {}\n");

      assertThat(refused.statusCode()).isEqualTo(400);
      assertThat(message(refused)).startsWith("mine.yaml line 1").contains("modles", "models");
      JsonNode status = json(get(hub, "/api/status"));
      assertThat(status.path("revision").asInt()).isZero();
      assertThat(status.path("notices").toString()).contains("revision-rejected");
      assertThat(get(hub, "/metrics").body()).contains("flotilla_revisions_rejected 1.0");
    }
  }

  @Test
  void aHubRemembersItsConfigurationAndItsName() throws Exception {
    try (ScriptedEngine engine = ScriptedEngine.start()) {
      String id;
      try (Hub hub = Hub.start(config(false))) {
        post(hub, "/api/apply", fleet(engine));
        id = Files.readString(home.resolve("hub").resolve("id"));
      }
      try (Hub hub = Hub.start(config(false))) {
        assertThat(json(get(hub, "/v1/models")).at("/data/0/id").asString()).isEqualTo(MODEL);
        assertThat(Files.readString(home.resolve("hub").resolve("id"))).isEqualTo(id);
      }
    }
  }

  @Test
  void whereKeysExistTheApiDemandsAnAdminKey() throws Exception {
    String admin = key("me", Role.ADMIN);
    String client = key("editor", Role.CLIENT);
    try (Hub hub = Hub.start(config(false))) {
      HttpResponse<String> without = get(hub, "/api/workers");
      assertThat(without.statusCode()).isEqualTo(401);
      assertThat(message(without))
          .isEqualTo(
              "this hub demands a key: an administrator makes one with 'flotilla keys create --admin"
                  + " NAME'; while the hub is stopped, --home DIR makes the first on its machine");
      HttpResponse<String> wrong = get(hub, "/api/workers", "fl-wrong");
      assertThat(wrong.statusCode()).isEqualTo(401);
      assertThat(message(wrong))
          .startsWith("the key is unknown to this hub, or revoked: ")
          .contains("flotilla keys create --admin NAME");
      HttpResponse<String> lesser = get(hub, "/api/workers", client);
      assertThat(lesser.statusCode()).isEqualTo(403);
      assertThat(message(lesser)).contains("'editor' may ask models; this needs an admin key");
      assertThat(get(hub, "/api/workers", admin).statusCode()).isEqualTo(200);
      assertThat(get(hub, "/api/keys", admin).body()).doesNotContain(admin).doesNotContain(client);
    }
  }

  @Test
  void whoWouldLockEverybodyOutIsAskedToMeanIt() throws Exception {
    String admin = key("me", Role.ADMIN);
    try (Hub hub = Hub.start(config(false))) {
      HttpRequest.Builder revoke =
          HttpRequest.newBuilder(uri(hub, "/api/keys/me"))
              .DELETE()
              .header("Authorization", "Bearer " + admin);
      HttpResponse<String> refused = send(revoke);
      assertThat(refused.statusCode()).isEqualTo(409);
      assertThat(message(refused)).startsWith("me is the last admin key").contains("--force");
      assertThat(get(hub, "/api/keys", admin).statusCode()).isEqualTo(200);

      assertThat(send(revoke.uri(uri(hub, "/api/keys/me?force=true"))).statusCode()).isEqualTo(200);
      assertThat(get(hub, "/api/keys", admin).statusCode()).isEqualTo(401);
    }
  }

  @Test
  void beyondLoopbackAHubWithoutKeysDoesNotStart() {
    InetSocketAddress everywhere = new InetSocketAddress("0.0.0.0", 0);

    assertThatThrownBy(() -> Hub.start(config(everywhere, false)))
        .isInstanceOf(HubRefused.class)
        .hasMessageContaining("flotilla keys create --admin")
        .hasMessageContaining("--allow-no-keys");
  }

  @Test
  void beyondLoopbackAHubWarnsOfWhatItLacks() throws Exception {
    try (Hub hub = Hub.start(config(new InetSocketAddress("0.0.0.0", 0), true))) {
      assertThat(hub.status().notices())
          .extracting(notice -> notice.code())
          .containsExactly("no-keys", "no-tls");
    }
  }

  /** What a page of another site can send without asking first. */
  private static HttpResponse<String> forged(Hub hub, String path) throws Exception {
    return send(
        HttpRequest.newBuilder(hub.address().resolve(path))
            .header("Origin", "https://evil.example")
            .POST(BodyPublishers.ofString("{}")));
  }

  @Test
  void anotherSitesPageChangesNothing() throws Exception {
    try (Hub hub = Hub.start(config(false))) {
      assertThat(forged(hub, "/api/tokens").statusCode()).isEqualTo(403);
      assertThat(json(get(hub, "/api/tokens"))).isEmpty();
    }
  }

  @Test
  void anotherSitesPageHasNoWorkDoneWhereNoKeyIsDemanded() throws Exception {
    try (Hub hub = Hub.start(config(false))) {
      HttpResponse<String> reply = forged(hub, "/v1/chat/completions");

      assertThat(reply.statusCode()).isEqualTo(403);
      assertThat(reply.body()).contains("origin_not_allowed", "flotilla keys create");
    }
  }

  @Test
  void aForeignNameLeadsToNothingWhereNoKeyIsDemanded() throws Exception {
    for (String path : List.of("/", "/v1/models", "/ui/live", "/metrics", "/api/status")) {
      try (Hub hub = Hub.start(config(false));
          TestClient client = TestClient.connect(hub.address().getPort())) {
        client.send("GET " + path + " HTTP/1.1\r\nHost: evil.example.com\r\n\r\n");
        TestClient.Reply reply = client.reply();
        assertThat(reply.status()).as(path).isEqualTo(403);
        assertThat(reply.body()).contains("host_not_allowed", "flotilla keys create");
      }
    }
    String key = key("me", Role.CLIENT);
    try (Hub hub = Hub.start(config(false));
        TestClient client = TestClient.connect(hub.address().getPort())) {
      client.send(
          "GET /v1/models HTTP/1.1\r\nHost: hub.example.com\r\nAuthorization: Bearer "
              + key
              + "\r\n\r\n");
      assertThat(client.reply().status()).isEqualTo(200);
    }
  }

  @Test
  void whatIsTooLargeIsToldTheSameLimitWhoeverNotices() throws Exception {
    try (Hub hub = Hub.start(config(false))) {
      for (long length : new long[] {40L << 20, 100L << 20}) {
        try (TestClient client = TestClient.connect(hub.address().getPort())) {
          client.send(
              "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                  + length
                  + "\r\n\r\n");
          TestClient.Reply reply = client.reply();
          assertThat(reply.status()).isEqualTo(413);
          assertThat(reply.body()).contains("larger than 33554432 bytes", "limits.request-body");
        }
      }
      try (TestClient client = TestClient.connect(hub.address().getPort())) {
        client.send(
            "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX: " + "x".repeat(200_000) + "\r\n\r\n");
        TestClient.Reply reply = client.reply();
        assertThat(reply.status()).isEqualTo(431);
        assertThat(reply.body()).contains("larger than 32768 bytes");
      }
      try (TestClient client = TestClient.connect(hub.address().getPort())) {
        client.send("GET /" + "x".repeat(100_000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
        TestClient.Reply reply = client.reply();
        assertThat(reply.status()).isEqualTo(414);
        assertThat(reply.body()).contains("longer than 8192 bytes");
      }
    }
  }

  @Test
  void aBackendThatIsDeadServesNothingAndIsShownAsUnreachable() throws Exception {
    String file;
    try (ScriptedEngine engine = ScriptedEngine.start()) {
      file = fleet(engine);
    }
    try (Hub hub = Hub.start(config(false))) {
      post(hub, "/api/apply", file);

      await().atMost(Duration.ofSeconds(20)).until(() -> get(hub, "/ready").statusCode() == 503);

      assertThat(get(hub, "/ready").body())
          .contains("backend engine is unreachable (nothing listens");
      JsonNode backend = json(get(hub, "/api/backends")).get(0);
      assertThat(backend.path("state").asString()).isEqualTo("UNREACHABLE");
      assertThat(backend.path("stateReason").asString()).startsWith("nothing listens on");
      await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> get(hub, "/api/events").body().contains("backend-unreachable"));
      assertThat(get(hub, "/").body()).contains("nobody answers", "unreachable");
    }
  }

  @Test
  void aBackendThatAnswersIsShownAsReachable() throws Exception {
    try (ScriptedEngine engine = ScriptedEngine.start();
        Hub hub = Hub.start(config(false))) {
      post(hub, "/api/apply", fleet(engine));
      await()
          .atMost(Duration.ofSeconds(20))
          .until(() ->
              json(get(hub, "/api/backends")).get(0).path("state").asString().equals("REACHABLE"));
    }
  }

  @Test
  void tokensAreMadeListedAndRevoked() throws Exception {
    try (Hub hub = Hub.start(config(false))) {
      JsonNode made = json(post(hub, "/api/tokens", "{\"uses\":2,\"hours\":1}"));
      assertThat(made.path("token").asString()).startsWith("ft-");
      JsonNode listed = json(get(hub, "/api/tokens"));
      assertThat(listed).hasSize(1);
      assertThat(listed.get(0).path("usesLeft").asInt()).isEqualTo(2);
      assertThat(listed.toString()).doesNotContain(made.path("token").asString());

      String id = listed.get(0).path("id").asString();
      assertThat(delete(hub, "/api/tokens/" + id).statusCode()).isEqualTo(200);
      assertThat(delete(hub, "/api/tokens/" + id).statusCode()).isEqualTo(404);
      assertThat(delete(hub, "/api/tokens/..%2f..").statusCode()).isIn(400, 404);
    }
  }

  @Test
  void badRequestsAreAnsweredInWords() throws Exception {
    try (Hub hub = Hub.start(config(false))) {
      assertThat(message(post(hub, "/api/drain", "{\"name\":\"nobody\"}")))
          .isEqualTo("neither a worker nor a node is called \"nobody\"");
      assertThat(message(post(hub, "/api/drain", "[]"))).isEqualTo("the body is a JSON object");
      assertThat(message(post(hub, "/api/drain", "{"))).isEqualTo("the body is a JSON object");
      assertThat(message(post(hub, "/api/drain", "{\"name\":7}"))).contains("the text \"name\"");
      assertThat(message(get(hub, "/api/events?limit=x")))
          .isEqualTo("limit is a number from 1 to 1000");
      assertThat(get(hub, "/api/nothing").statusCode()).isEqualTo(404);
      HttpResponse<String> large = post(hub, "/api/drain", "\"" + "x".repeat(70_000) + "\"");
      assertThat(large.statusCode()).isEqualTo(413);
      assertThat(message(large)).isEqualTo("the body is larger than 64 KiB");
    }
  }

  private HubConfig config(boolean allowNoKeys) {
    return config(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), allowNoKeys);
  }

  private HubConfig config(InetSocketAddress listen, boolean allowNoKeys) {
    return new HubConfig(
        home,
        listen,
        Optional.empty(),
        Optional.empty(),
        false,
        allowNoKeys,
        "studio",
        "test",
        name -> Optional.empty(),
        ProofLimits.DEFAULTS);
  }

  private String key(String name, Role role) throws Exception {
    try (Store store = Store.open(home, StoreLimits.DEFAULT, InstantSource.system())) {
      Creation creation =
          new dev.flotilla.hub.keys.Keys(store, true, InstantSource.system(), new SecureRandom())
              .create(name, role);
      return ((Creation.Created) creation).secret();
    }
  }

  private static String fleet(ScriptedEngine engine) {
    return """
    backends:
      engine: { url: "%s/v1", model: scripted, slots: 2 }
    routes:
      talk:
        match: { models: [talk] }
        strategy: fastest
        to: [ { backend: engine } ]
    """
        .formatted(engine.url());
  }
}
