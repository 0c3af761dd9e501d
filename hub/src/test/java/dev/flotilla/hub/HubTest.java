package dev.flotilla.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.flotilla.hub.fleet.WorkerView;
import dev.flotilla.hub.gateway.HubListener;
import dev.flotilla.hub.lanes.TestAgent;
import dev.flotilla.hub.proof.ProofLimits;
import dev.flotilla.hub.proof.QuickProofs;
import dev.flotilla.hub.spec.Revisions;
import dev.flotilla.hub.store.StoreLimits;
import dev.flotilla.server.http.HttpServer;
import dev.flotilla.server.http.HttpServer.Place;
import dev.flotilla.testkit.client.TestCertificate;
import dev.flotilla.testkit.client.TestClient;
import dev.flotilla.testkit.scripted.Gate;
import dev.flotilla.testkit.scripted.Script;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import dev.flotilla.wire.lanes.ControlMessage;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The assembled hub: what is configured, what is stored and what is shown belong together. */
class HubTest {
  private static final StoreLimits IMPATIENT = impatient(Duration.ofMillis(50));
  private static final String CHAT =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";

  @TempDir Path home;

  private final ScriptedEngine engine = ScriptedEngine.start().model("own");

  @AfterEach
  void stop() {
    engine.close();
  }

  /** Limits of a store that gives a lock up after {@code busy} and soon tries again. */
  private static StoreLimits impatient(Duration busy) {
    return StoreLimits.DEFAULT.with(
        new StoreLimits.Pauses(
            busy, Duration.ofMillis(200), Duration.ofMillis(10), Duration.ofMillis(50)));
  }

  private HubConfig config(Optional<Path> authorities) {
    return config(authorities, ProofLimits.DEFAULTS);
  }

  private HubConfig config(Optional<Path> authorities, ProofLimits proofs) {
    return new HubConfig(
        home,
        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
        Optional.empty(),
        authorities,
        false,
        false,
        "",
        "test",
        variable -> Optional.empty(),
        proofs);
  }

  private Hub hub() throws HubRefused {
    return Hub.start(config(Optional.empty()), IMPATIENT);
  }

  /** The model m, served by a backend with as many slots. */
  private static void serve(Hub hub, String url, int slots, String limits) throws Exception {
    String yaml =
        """
        backends:
          b: { url: %s/v1, model: own, slots: %d }
        routes:
          r:
            match: { models: [m] }
            to: [ { backend: b } ]
            strategy: fastest
        %s
        """
            .formatted(url, slots, limits);
    assertThat(hub.revisions().apply(yaml, "fleet.yaml", "ann", false))
        .as(yaml)
        .isInstanceOf(Revisions.Outcome.Applied.class);
  }

  private static TestClient client(Hub hub) {
    return TestClient.connect(hub.address().getPort());
  }

  private static TestClient.Reply get(Hub hub, String path) {
    try (TestClient client = client(hub)) {
      return client.get(path).reply();
    }
  }

  private static TestClient.Reply chat(Hub hub) {
    try (TestClient client = client(hub)) {
      return client.post("/v1/chat/completions", CHAT).reply();
    }
  }

  @Test
  void onAFullDiskServingGoesOnAndReadyBannerAndMetricSaySo() throws Exception {
    engine.whenChat(Script.answer("Hello"));
    try (Hub hub =
        Hub.start(config(Optional.empty()), IMPATIENT.with(IMPATIENT.kept().within(512 << 10)))) {
      serve(hub, engine.url(), 4, "");
      assertThat(get(hub, "/ready").body()).contains("\"ready\":true", "\"reasons\":[]");
      try (Connection other =
              DriverManager.getConnection("jdbc:sqlite:" + home.resolve("hub/hub.db"));
          Statement ballast = other.createStatement()) {
        ballast.execute("CREATE TABLE ballast (x BLOB)");
        ballast.execute("INSERT INTO ballast VALUES (zeroblob(1048576))");

        await()
            .untilAsserted(() -> {
              assertThat(chat(hub).status()).isEqualTo(200);
              TestClient.Reply ready = get(hub, "/ready");
              assertThat(ready.status()).isEqualTo(200);
              assertThat(ready.body()).contains("nothing new is remembered", "is full");
            });
        assertThat(get(hub, "/metrics").body()).contains("flotilla_store_failing 1");
        assertThat(get(hub, "/").body()).contains("nothing new is remembered");

        ballast.execute("DELETE FROM ballast");
      }
      await().untilAsserted(() -> assertThat(get(hub, "/ready").body()).contains("\"reasons\":[]"));
      assertThat(get(hub, "/metrics").body()).contains("flotilla_store_failing 0");
    }
  }

  @Test
  void aBackendsCertificateIsCheckedByTheGivenAuthorityAndForItsName() throws Exception {
    TestCertificate certificate =
        TestCertificate.make(home, "backend", "dns:localhost,ip:127.0.0.1");
    TestCertificate wrongName = TestCertificate.make(home, "elsewhere", "dns:elsewhere.example");
    Path both = home.resolve("authorities.pem");
    Files.writeString(
        both, Files.readString(certificate.chain()) + Files.readString(wrongName.chain()));
    try (HttpServer right = backend(certificate);
        HttpServer wrong = backend(wrongName)) {
      try (Hub hub = hub()) {
        serve(hub, "https://127.0.0.1:" + right.port(), 4, "");
        assertThat(chat(hub).status()).isEqualTo(502);
      }
      try (Hub hub = Hub.start(config(Optional.of(both)), IMPATIENT)) {
        assertThat(chat(hub).body()).contains("over TLS");

        serve(hub, "https://127.0.0.1:" + wrong.port(), 4, "");
        TestClient.Reply reply = chat(hub);
        // Whether the hub's own question found out first, or this one.
        assertThat(reply.status()).isIn(502, 503);
        assertThat(reply.body()).contains("no trusted connection to 127.0.0.1:" + wrong.port());
      }
    }
  }

  private static HttpServer backend(TestCertificate certificate) throws Exception {
    String answer =
        "{\"object\":\"chat.completion\",\"model\":\"own\",\"choices\":[{\"index\":0,\"message\":"
            + "{\"role\":\"assistant\",\"content\":\"over TLS\"},\"finish_reason\":\"stop\"}]}";
    return HubListener.of(
            new Place(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                Optional.of(new HttpServer.Certificate(certificate.chain(), certificate.key())),
                Optional.empty()),
            HubListener.LIMITS,
            HubListener.LIMITS::bodyBytesMax,
            List.of(rules ->
                rules.post(
                    "/v1/chat/completions",
                    (request, response) -> {
                      request.content().consume();
                      response.header("Content-Type", "application/json");
                      response.send(answer);
                    })),
            List.of())
        .start();
  }

  @Test
  void anAuthorityThatCantBeReadIsRefusedAtTheStart() {
    assertThatThrownBy(() -> Hub.start(config(Optional.of(home.resolve("none.pem"))), IMPATIENT))
        .isInstanceOf(HubRefused.class)
        .hasMessage("--ca: there is no file " + home.resolve("none.pem"));
  }

  private static TestClient.Reply post(Hub hub, String path, String json) {
    try (TestClient client = client(hub)) {
      return client.post(path, json).reply();
    }
  }

  private static TestClient.Reply enrol(Hub hub, String node, String agentId) {
    return post(
        hub,
        "/api/enrol",
        "{\"token\":\"%s\",\"node\":\"%s\",\"agentId\":\"%s\"}"
            .formatted(hub.tokens().oneShot(), node, agentId));
  }

  private static TestAgent joins(Hub hub, String node, String agentId) {
    String body = enrol(hub, node, agentId).body();
    String credential = body.substring(body.indexOf("fn-"), body.lastIndexOf('"'));
    return new TestAgent(hub.address().getPort(), node, 1, agentId, credential).lanes(3).beats();
  }

  private static void serveModel(Hub hub) throws Exception {
    serveModel(hub, "context: 4096");
  }

  private static void serveModel(Hub hub, String promise) throws Exception {
    String yaml =
        """
        models:
          m:
            promise: { %s }
            replicas: 1
            recipes:
              - { engine: llama-server, source: /models/m.gguf, slots: 4 }
        """
            .formatted(promise);
    assertThat(hub.revisions().apply(yaml, "fleet.yaml", "ann", false))
        .isInstanceOf(Revisions.Outcome.Applied.class);
  }

  @Test
  void aWorkersLifeAndWhatWasAskedOfItCanBeReadLater() throws Exception {
    try (Hub hub = hub()) {
      serveModel(hub);
      try (TestAgent agent = joins(hub, "box", "agent-1")) {
        await().until(() -> agent.heard(ControlMessage.Desired.class).isPresent());
        agent.serves("box/m-1", 1, engine.port());
        await().untilAsserted(() -> assertThat(chat(hub).status()).isEqualTo(200));

        assertThat(get(hub, "/metrics").body())
            .contains(
                "flotilla_workers{state=\"serving\"} 1",
                "flotilla_node_connected{node=\"box\"} 1",
                "flotilla_lanes_idle{node=\"box\"}",
                "flotilla_lanes_open{node=\"box\"}");
        await()
            .untilAsserted(() ->
                assertThat(get(hub, "/api/history?worker=box/m-1").body())
                    .contains(
                        "\"generation\":1",
                        "\"state\":\"serving\"",
                        "\"startedWith\":\"llama-server"));
        await()
            .untilAsserted(() ->
                assertThat(get(hub, "/api/usage?by=target&name=box/m-1").body())
                    .contains("\"ok\":1", "\"failed\":0", "\"hours\":24"));
        assertThat(get(hub, "/api/usage?by=model&name=m").body()).contains("\"ok\":1");
        assertThat(get(hub, "/api/requests?limit=5").body())
            .contains("\"target\":\"box/m-1\"", "\"outcome\":\"ok\"");
        assertThat(get(hub, "/api/usage?by=model&name=other").body()).contains("\"requests\":0");
        assertThat(get(hub, "/api/usage?by=colour&name=m").body()).contains("model, target or key");
      }
    }
  }

  static Stream<Script> otherForms() {
    return Stream.of(
        Script.json(200, "Hello, I am no JSON any more"),
        Script.answer("<think>", "Hm.", "</think>", "Hello"));
  }

  @ParameterizedTest
  @MethodSource("otherForms")
  void aWorkerWhoseRepliesChangeTheirFormIsDrainedProvedAgainAndRefused(Script changed)
      throws Exception {
    try (Hub hub = Hub.start(config(Optional.empty(), QuickProofs.LIMITS), IMPATIENT)) {
      serveModel(hub, "context: 4096, reasoning: reasoning_content");
      try (TestAgent agent = joins(hub, "box", "agent-1")) {
        await().until(() -> agent.heard(ControlMessage.Desired.class).isPresent());
        agent.serves("box/m-1", 1, engine.port());
        await().untilAsserted(() -> assertThat(chat(hub).status()).isEqualTo(200));

        engine.alwaysChat(changed);
        await()
            .atMost(Duration.ofMinutes(1))
            .untilAsserted(() -> {
              chat(hub);
              assertThat(hub.fleet().worker("box/m-1").orElseThrow().state())
                  .isEqualTo(WorkerView.State.REFUSED);
            });

        assertThat(get(hub, "/api/events?limit=50").body())
            .contains("answers in a shape that it did not have when it was proved");
        assertThat(get(hub, "/api/proofs?worker=box/m-1&limit=1").body())
            .contains("its shape is not its model's");
      }
    }
  }

  @Test
  void aNodeThatIsGoneForGoodIsForgottenAndItsNameIsFree() throws Exception {
    try (Hub hub = hub()) {
      serveModel(hub);
      try (TestAgent agent = joins(hub, "box", "agent-1")) {
        await().until(() -> agent.heard(ControlMessage.Desired.class).isPresent());
        TestClient.Reply taken = enrol(hub, "box", "agent-2");
        assertThat(taken.status()).isEqualTo(409);
        assertThat(taken.body()).contains("flotilla agent --name", "flotilla forget box");

        TestClient.Reply refused = post(hub, "/api/forget", "{\"name\":\"box\"}");
        assertThat(refused.status()).isEqualTo(409);
        assertThat(refused.body()).contains("Node box is connected: stop its agent first");
      }
      await().until(() -> hub.fleet().nodes().stream().noneMatch(node -> node.connected()));

      TestClient.Reply forgotten = post(hub, "/api/forget", "{\"name\":\"box\"}");
      assertThat(forgotten.status()).isEqualTo(200);
      assertThat(forgotten.body()).contains("Node box is forgotten", "box/m-1");
      assertThat(hub.fleet().nodes()).isEmpty();
      assertThat(hub.fleet().workers()).isEmpty();
    }
    try (Hub hub = hub()) {
      assertThat(hub.fleet().nodes()).isEmpty();
      assertThat(enrol(hub, "box", "agent-2").status()).isEqualTo(200);
      assertThat(post(hub, "/api/forget", "{\"name\":\"box\"}").body())
          .contains("never joined, is forgotten");
      assertThat(post(hub, "/api/forget", "{\"name\":\"box\"}").status()).isEqualTo(404);
    }
  }

  @Test
  void anEnrolmentThatCantBeStoredIsForLaterAndNoBadToken() throws Exception {
    try (Hub hub = Hub.start(config(Optional.empty()), impatient(Duration.ofMillis(20)));
        Connection other =
            DriverManager.getConnection("jdbc:sqlite:" + home.resolve("hub/hub.db"));
        Statement lock = other.createStatement()) {
      lock.execute("BEGIN IMMEDIATE");

      TestClient.Reply later = enrol(hub, "box", "agent-1");

      assertThat(later.status()).isEqualTo(503);
      assertThat(later.header("retry-after")).isNotEmpty();
      assertThat(later.body()).contains("store_unavailable", "another process holds the database");
      lock.execute("ROLLBACK");
      await().untilAsserted(() -> assertThat(enrol(hub, "box", "agent-1").status()).isEqualTo(200));
    }
  }

  @Test
  void theConfiguredQueueBoundsHowManyWait() throws Exception {
    Gate gate = Gate.closed();
    engine.whenChat(Script.stallThen(gate, Script.answer("one")));
    try (Hub hub = hub();
        TestClient runs = client(hub);
        TestClient waits = client(hub)) {
      serve(hub, engine.url(), 1, "limits: { queue: { per-model: 1 } }");
      runs.post("/v1/chat/completions", CHAT);
      engine.awaitChat(1);
      waits.post("/v1/chat/completions", CHAT);
      await()
          .until(() ->
              get(hub, "/metrics")
                  .body()
                  .contains("flotilla_queue_depth{gen_ai_request_model=\"m\"} 1"));

      TestClient.Reply refused = chat(hub);
      assertThat(refused.status()).isEqualTo(429);
      assertThat(refused.body())
          .contains("there is 1 request waiting", "limits.queue.per-model in fleet.yaml");
      assertThat(refused.header("retry-after")).isNotEmpty();

      serve(hub, engine.url(), 1, "limits: { queue: { per-model: 2, wait: 50ms } }");
      TestClient.Reply late = chat(hub);
      assertThat(late.status()).isEqualTo(429);
      assertThat(late.body()).contains("within 50 ms", "limits.queue.wait in fleet.yaml");
      gate.open();
      assertThat(runs.reply().status()).isEqualTo(200);
      assertThat(waits.reply().status()).isEqualTo(200);
    }
  }

  @Test
  void theConfiguredBodySizeBoundsABody() throws Exception {
    engine.whenChat(Script.answer("one"));
    try (Hub hub = hub()) {
      serve(hub, engine.url(), 1, "limits: { request-body: 2KiB }");
      String longer = CHAT.replace("hi", "x".repeat(2048));
      try (TestClient client = client(hub)) {
        TestClient.Reply refused = client.post("/v1/chat/completions", longer).reply();
        assertThat(refused.status()).isEqualTo(413);
        assertThat(refused.body()).contains("2048", "limits.request-body in fleet.yaml");
      }
      serve(hub, engine.url(), 1, "limits: { request-body: 4KiB }");
      try (TestClient client = client(hub)) {
        assertThat(client.post("/v1/chat/completions", longer).reply().status()).isEqualTo(200);
      }
    }
  }
}
