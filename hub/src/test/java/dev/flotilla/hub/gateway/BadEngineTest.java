package dev.flotilla.hub.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.hub.gateway.TestHub.Setup;
import dev.flotilla.hub.routing.TargetLoad;
import dev.flotilla.testkit.client.TestClient;
import dev.flotilla.testkit.scripted.Gate;
import dev.flotilla.testkit.scripted.Script;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import dev.flotilla.wire.connection.DeadlineLimits;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a client sees of engines that fail: nothing, where another one can do it. */
class BadEngineTest {
  private static final String CHATS = "/v1/chat/completions";

  private final ScriptedEngine a = ScriptedEngine.start().model("own-name");
  private final ScriptedEngine b = ScriptedEngine.start().model("own-name");
  private final ScriptedEngine c = ScriptedEngine.start().model("own-name");

  @AfterEach
  void stop() {
    a.close();
    b.close();
    c.close();
  }

  static List<Script> failures() {
    return List.of(
        Script.dropBeforeFirstByte(),
        Script.closeBeforeFirstByte(),
        Script.garbage(),
        Script.neverEndingHead(),
        Script.contentLengthTooLong(),
        Script.notFound(),
        Script.modelNotFound("own-name"),
        Script.error(401, "authentication_error", "Invalid API Key"),
        Script.error(429, "rate_limit_error", "too many"),
        Script.serverError(),
        Script.loading(),
        Script.html(502),
        Script.html(200));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void anEngineThatFailsBeforeTheFirstByteIsReplacedUnseen(Script failure) {
    a.alwaysChat(failure);
    b.alwaysChat(Script.answer("from b"));
    try (TestHub hub = TestHub.over(Setup.whereNoPauseEnds(), a, b)) {
      for (Supplier<TestClient.Reply> ask :
          List.<Supplier<TestClient.Reply>>of(
              () -> hub.chat("x"), () -> hub.stream("x"), () -> hub.chat("y"))) {
        TestClient.Reply reply = ask.get();
        assertThat(reply.status()).isEqualTo(200);
        assertThat(reply.body()).contains("from b");
        assertThat(reply.header("x-flotilla-worker")).isEqualTo("b");
        // what a 500 says of its engine is known only once another engine has served the request
        await().until(() -> load(hub, "a").setAsideMillis() > 0);
      }
      assertThat(a.chats()).as("it is set aside after the first").hasSize(1);
      assertThat(load(hub, "a").setAsideMillis()).isPositive();
      assertThat(load(hub, "a").failed()).isEqualTo(1);
    }
  }

  @Test
  void anEngineThatIsDownIsReplacedUnseen() {
    a.die();
    try (TestHub hub = TestHub.over(Setup.whereNoPauseEnds(), a, b)) {
      for (int i = 0; i < 4; i++) {
        assertThat(hub.chat("x").status()).isEqualTo(200);
      }
      assertThat(b.chats()).hasSize(4);
      assertThat(load(hub, "a").failed()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"drop", "close", "half", "utf8", "garbage", "error", "no-reason"})
  void aStreamThatFailsLaterEndsWithOneErrorEventAndNothingThatLooksWhole(String how) {
    a.alwaysChat(
        switch (how) {
          case "drop" -> Script.answer("one", "two").dropAfter(1);
          case "close" -> Script.answer("one", "two").closeAfter(1);
          case "half" -> Script.answer("one", "two").halfEventAfter(1);
          case "utf8" -> Script.answer("one", "two").invalidUtf8After(1);
          case "garbage" -> Script.answer("one", "two").garbageAfter(1);
          case "error" -> Script.answer("one", "two").errorAfter(1);
          default -> Script.answer("one", "two").withoutFinishReason();
        });
    try (TestHub hub = TestHub.over(a);
        TestClient client = hub.client()) {
      client.post(CHATS, TestHub.chat("x", ",\"stream\":true"));

      String all = client.untilClosed();

      assertThat(all).contains("one").doesNotContain("[DONE]").doesNotEndWith("0\r\n\r\n");
      assertThat(all)
          .containsOnlyOnce("data: {\"error\":{\"message\":\"the answer is incomplete: a: ")
          .contains("\"type\":\"server_error\"", "\"code\":\"stream_cut\"");
      assertThat(all).doesNotContain("\"finish_reason\":\"stop\"");
      assertThat(hub.usage(1).outcome()).isEqualTo("cut");
      await().until(() -> load(hub, "a").failed() == 1);
      assertThat(hub.events).as("it may have died, which its agent tells").isEmpty();
    }
  }

  @Test
  void aClientHasTimeToReadThatItsStreamWasCut() {
    a.alwaysChat(Script.answer("one", "two").dropAfter(1));
    Setup setup = new Setup();
    setup.server = HubListener.LIMITS.withParting(Duration.ofHours(1));
    try (TestHub hub = TestHub.over(setup, a)) {
      try (TestClient client = hub.client()) {
        client.post(CHATS, TestHub.chat("x", ",\"stream\":true"));
        await().until(() -> client.event().contains("stream_cut"));

        assertThat(client.isKeptOpenFor(Duration.ofMillis(300))).as("it has not left yet").isTrue();
        await("the worker is free meanwhile").until(() -> load(hub, "a").inFlight() == 0);
      }
      await().until(() -> hub.connections() == 0);
    }
  }

  @Test
  void anEngineThatDiesAfterDoneHasAnsweredWhole() {
    a.alwaysChat(Script.answer("one").dropAfterDone());
    try (TestHub hub = TestHub.over(a)) {
      assertThat(hub.stream("x").body()).contains("one").endsWith("data: [DONE]\n\n");
      assertThat(hub.stream("x").body()).endsWith("data: [DONE]\n\n");
      assertThat(load(hub, "a").failed()).isZero();
      assertThat(hub.usage(2).outcome()).isEqualTo("ok");
    }
  }

  @Test
  void aLineOf100MegabytesIsRefusedAtItsLimit() {
    a.alwaysChat(Script.hugeLine(100 << 20));
    try (TestHub hub = TestHub.over(a)) {
      TestClient.Reply reply = hub.stream("x");

      assertThat(reply.status()).isEqualTo(502);
      assertThat(reply.body()).contains("longer than 1048576 bytes");
    }
  }

  @Test
  void anEngineThatDripsByteByByteIsServedWhole() {
    a.alwaysChat(Script.answer("one", "two").dripped());
    try (TestHub hub = TestHub.over(a)) {
      assertThat(hub.stream("x").body()).contains("one", "two").endsWith("data: [DONE]\n\n");
      assertThat(hub.chat("x").body()).contains("onetwo");
    }
  }

  @Test
  void anEngineOfHttp10IsServedWhole() {
    a.alwaysChat(Script.answer("one", "two").http10());
    try (TestHub hub = TestHub.over(a)) {
      assertThat(hub.stream("x").body()).contains("one", "two").endsWith("data: [DONE]\n\n");
      assertThat(hub.chat("x").body()).contains("onetwo");
    }
  }

  @Test
  void aStreamThatStallsIsCutAtTheLimitBetweenEvents() {
    Setup setup = new Setup();
    Duration minute = Duration.ofMinutes(1);
    setup.gateway =
        GatewayLimits.DEFAULTS.withStream(
            new DeadlineLimits(minute, Duration.ofMillis(200), minute));
    Gate gate = Gate.closed();
    a.alwaysChat(Script.answer("one", "two").stallAfter(1, gate));
    try (TestHub hub = TestHub.over(setup, a);
        TestClient client = hub.client()) {
      client.post(CHATS, TestHub.chat("x", ",\"stream\":true"));

      assertThat(client.untilClosed())
          .contains("one", "no further chunk of the reply came within 200 ms")
          .doesNotContain("[DONE]");
      await().until(() -> load(hub, "a").failed() == 1);
      assertThat(load(hub, "a").setAsideMillis()).as("it may hang").isBetween(2_000L, 10_000L);
    }
  }

  @Test
  void anEngineThatSaysNothingIsReplacedAtTheLimitForTheFirstByte() {
    Setup setup = new Setup();
    Duration minute = Duration.ofMinutes(1);
    setup.gateway =
        GatewayLimits.DEFAULTS.withStream(
            new DeadlineLimits(Duration.ofMillis(200), minute, minute));
    Gate gate = Gate.closed();
    a.alwaysChat(Script.answer("late").stallBeforeFirstByte(gate));
    b.alwaysChat(Script.answer("from b"));
    try (TestHub hub = TestHub.over(setup, a, b)) {
      TestClient.Reply reply = hub.stream("x");

      assertThat(reply.body()).contains("from b");
      assertThat(reply.header("x-flotilla-attempts")).isEqualTo("2");
      assertThat(load(hub, "a").setAsideMillis()).as("it may hang").isBetween(2_000L, 10_000L);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Failed to parse messages: Missing tool call type: {}",
        "Failed to parse tools: Missing tool function: {}",
        "image input is not supported - hint: you may need to provide the mmproj",
        "audio input is not supported - hint: you may need to provide the mmproj",
        "Unknown reasoning format: zz"
      })
  void aRequestThatLlamaServerCouldNotReadIsItsClientsMistakeThoughItSays500(String said) {
    a.alwaysChat(Script.error(500, "server_error", said));
    b.alwaysChat(Script.error(500, "server_error", said));
    try (TestHub hub = TestHub.over(a, b)) {
      TestClient.Reply reply = hub.chat("x");

      assertThat(reply.status()).isEqualTo(400);
      assertThat(reply.body()).contains(said, "\"type\":\"invalid_request_error\"");
      assertThat(reply.header("x-flotilla-attempts")).isEqualTo("1");
      assertThat(load(hub, "a").failed() + load(hub, "b").failed()).isZero();
      assertThat(hub.metrics()).doesNotContain("flotilla_attempts_failed_total{");
    }
  }

  @Test
  void twoWorkersThatFailWithTheSameWordsAreEnough() {
    for (ScriptedEngine each : List.of(a, b, c)) {
      each.alwaysChat(Script.error(500, "server_error", "the sampler broke"));
    }
    try (TestHub hub = TestHub.over(a, b, c)) {
      TestClient.Reply reply = hub.chat("x");

      assertThat(reply.status()).isEqualTo(502);
      assertThat(reply.body())
          .contains("on 2 workers, which gave the same answer, so it is not tried on another")
          .contains("the sampler broke");
      assertThat(hub.usage(1).attempts()).isEqualTo(2);
      assertThat(hub.metrics()).doesNotContain("flotilla_attempts_failed_total{");
    }
  }

  @Test
  void theMetricAndTheLoadCountTheSameFailedAttempts() {
    a.alwaysChat(Script.serverError());
    b.alwaysChat(Script.answer("from b"));
    try (TestHub hub = TestHub.over(a, b)) {
      assertThat(hub.chat("x").status()).isEqualTo(200);

      await().until(() -> load(hub, "a").failed() == 1);
      await()
          .until(() ->
              hub.metrics()
                  .matches("(?s).*flotilla_attempts_failed_total\\{[^}]*\"a\"[^}]*} 1(\\.0)?\n.*"));
    }
  }

  @Test
  void aRequestThatKillsItsWorkerIsGivenToOneOtherAtMost() {
    for (ScriptedEngine each : List.of(a, b, c)) {
      each.alwaysChat(Script.dropBeforeFirstByte());
    }
    try (TestHub hub = TestHub.over(a, b, c)) {
      TestClient.Reply reply = hub.chat("poison");

      assertThat(reply.status()).isEqualTo(502);
      assertThat(reply.body()).contains("on 2 workers", "may be the cause");
      assertThat(a.chats().size() + b.chats().size() + c.chats().size()).isEqualTo(2);
      assertThat(hub.usage(1).attempts()).isEqualTo(2);
    }
  }

  @Test
  void attemptsAreBounded() {
    ScriptedEngine d = ScriptedEngine.start();
    for (ScriptedEngine each : List.of(a, b, c, d)) {
      each.alwaysChat(Script.loading());
    }
    try (d;
        TestHub hub = TestHub.over(a, b, c, d)) {
      TestClient.Reply reply = hub.chat("x");

      assertThat(reply.status()).isEqualTo(503);
      assertThat(reply.header("retry-after")).isNotEmpty();
      assertThat(reply.header("x-flotilla-attempts")).isEqualTo("3");
      assertThat(reply.body()).contains("on 3 workers", "Loading model");
    }
  }

  @Test
  void aRequestThatEveryWorkerAnswersWith500SetsNobodyAside() {
    a.alwaysChat(Script.serverError());
    b.alwaysChat(Script.serverError());
    try (TestHub hub = TestHub.over(a, b)) {
      assertThat(hub.chat("x").status()).isEqualTo(502);
      assertThat(load(hub, "a").setAsideMillis()).isZero();
      assertThat(load(hub, "b").setAsideMillis()).isZero();
    }
  }

  @Test
  void aPooledConnectionThatDiedWhileIdleCostsNoAttempt() {
    try (TestHub hub = TestHub.over(a)) {
      assertThat(hub.chat("x").status()).isEqualTo(200);
      a.die();
      a.revive();

      TestClient.Reply reply = hub.chat("x");

      assertThat(reply.status()).isEqualTo(200);
      assertThat(reply.header("x-flotilla-attempts")).isEqualTo("1");
      assertThat(load(hub, "a").failed()).isZero();
    }
  }

  @Test
  void theFieldThatAnEngineNamesIsToldToTheClient() {
    a.always(
        CHATS, Script.json(400, "{\"message\":\"top_k is 1.5\",\"param\":\"top_k\",\"code\":400}"));
    try (TestHub hub = TestHub.over(a)) {
      TestClient.Reply reply = hub.chat("x");

      assertThat(reply.status()).isEqualTo(400);
      assertThat(reply.body()).contains("top_k is 1.5", "\"param\":\"top_k\"");
    }
  }

  @Test
  void anEngineWithoutARouteIsNotSetAsideForIt() {
    a.always(CHATS, Script.error(501, "not_supported_error", "not here"));
    try (TestHub hub = TestHub.over(a)) {
      TestClient.Reply reply = hub.chat("x");

      assertThat(reply.status()).isEqualTo(400);
      assertThat(reply.body()).contains("not here");
      assertThat(load(hub, "a").setAsideMillis()).isZero();
    }
  }

  private static TargetLoad load(TestHub hub, String name) {
    return hub.dispatcher.loads().stream().filter(e -> e.target().equals(name)).findFirst().get();
  }

  @Test
  void theOnlyWorkerDiesBeforeTheFirstByteAndTheRequestWaitsForItsNextLaunch() {
    try (TestHub hub = TestHub.over(a);
        TestClient client = hub.client()) {
      a.whenChat(Script.closeBeforeFirstByte(), Script.answer("back"));
      client.post(CHATS, TestHub.chat("x", ""));
      a.awaitChat(1);
      // Its agent tells of the death, and a moment later of the next launch.
      hub.fleet.awaited(TestHub.MODEL, 1);
      hub.fleet.serve(TestHub.MODEL, hub.launch(2, a));

      TestClient.Reply reply = client.reply();

      assertThat(reply.status()).isEqualTo(200);
      assertThat(reply.body()).contains("back");
      assertThat(reply.header("x-flotilla-attempts")).isEqualTo("2");
      assertThat(hub.events).as("a death is its agent's to tell").isEmpty();
    }
  }

  @Test
  void aRequestDuringWhichTwoLaunchesDiedIsNotRunOnAThird() {
    try (TestHub hub = TestHub.over(a);
        TestClient client = hub.client()) {
      a.alwaysChat(Script.closeBeforeFirstByte());
      client.post(CHATS, TestHub.chat("x", ""));
      a.awaitChat(1);
      hub.fleet.awaited(TestHub.MODEL, 1);
      hub.fleet.serve(TestHub.MODEL, hub.launch(2, a));
      a.awaitChat(2);
      hub.fleet.awaited(TestHub.MODEL, 1);
      hub.fleet.serve(TestHub.MODEL, hub.launch(3, a));

      TestClient.Reply reply = client.reply();

      assertThat(reply.status()).isEqualTo(502);
      assertThat(reply.body())
          .contains("may be the cause: a: the server closed the connection without a reply; a: ");
      assertThat(hub.usage(1).attempts()).isEqualTo(2);
    }
  }

  @Test
  void aLaunchThatGoesOnFailingIsToldOnceAndNotForEachRequest() {
    try (TestHub hub = TestHub.over(a)) {
      a.alwaysChat(Script.closeBeforeFirstByte());

      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(() -> {
            hub.chat("x");
            assertThat(hub.events).isNotEmpty();
          });
      hub.chat("x");

      assertThat(hub.events).hasSize(1);
      assertThat(hub.events.getFirst())
          .startsWith("requests-failed a a: the server closed the connection");
    }
  }
}
