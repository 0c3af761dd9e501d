package dev.flotilla.hub.lanes;

import static dev.flotilla.hub.fleet.Fleets.model;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.flotilla.hub.fleet.FleetLimits;
import dev.flotilla.hub.fleet.WorkerView.State;
import dev.flotilla.hub.routing.Dialer;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.testkit.client.TestClient;
import dev.flotilla.testkit.scripted.Gate;
import dev.flotilla.testkit.scripted.Script;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import dev.flotilla.wire.http.Http1;
import dev.flotilla.wire.http.Http1Limits;
import dev.flotilla.wire.http.HttpCall;
import dev.flotilla.wire.http.HttpHeaders;
import dev.flotilla.wire.http.HttpReply;
import dev.flotilla.wire.lanes.ControlMessage;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Agents, hub and engines over real sockets. */
class LanesTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final Duration FOR_EVER = Duration.ofHours(1);
  private static final int SLOTS = 4;
  private static final String W = "box/m-1";

  private final List<AutoCloseable> open = new ArrayList<>();

  private <T extends AutoCloseable> T keep(T closeable) {
    open.add(closeable);
    return closeable;
  }

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable closeable : open.reversed()) {
      closeable.close();
    }
  }

  private LaneHub hub() {
    return keep(new LaneHub()).serves(model("m", 1));
  }

  /** An agent whose worker echoes whatever it is sent. */
  private TestAgent echoing(LaneHub hub, int lanes) throws IOException {
    TestAgent agent = keep(new TestAgent(hub.port(), "box", 1));
    await().atMost(LIMIT).until(() -> agent.heard(ControlMessage.Desired.class).isPresent());
    agent.serves(W, 1, echo()).lanes(lanes);
    await().atMost(LIMIT).until(() -> state(hub) == State.SERVING);
    await().atMost(LIMIT).until(() -> hub.lanes.pool("box").idle() == lanes);
    return agent;
  }

  private static State state(LaneHub hub) {
    return hub.fleet.worker(W).orElseThrow().state();
  }

  private int echo() throws IOException {
    ServerSocket listener = keep(new ServerSocket(0, 128, InetAddress.getLoopbackAddress()));
    Thread.ofVirtual()
        .start(() -> {
          while (!listener.isClosed()) {
            try {
              Socket socket = listener.accept();
              Thread.ofVirtual()
                  .start(() -> {
                    try (socket) {
                      socket.getInputStream().transferTo(socket.getOutputStream());
                    } catch (IOException _) {
                      // The other end went away.
                    }
                  });
            } catch (IOException _) {
              return;
            }
          }
        });
    return listener.getLocalPort();
  }

  private static String talk(Dialer.Lease lease, String text) throws IOException {
    lease.connection().output().write(text.getBytes(UTF_8));
    return new String(lease.connection().input().readNBytes(text.length()), UTF_8);
  }

  private static Dialer.Lease dial(LaneHub hub) throws IOException {
    return hub.target("m").dialer().dial(false, LIMIT);
  }

  @Test
  void bytesFlowThroughALaneAndTheNextRequestReusesIt() throws Exception {
    LaneHub hub = hub();
    TestAgent agent = echoing(hub, 2);

    Dialer.Lease first = dial(hub);
    assertThat(first.reused()).isFalse();
    assertThat(talk(first, "hello")).isEqualTo("hello");
    String large = "x".repeat(300_000);
    Thread.ofVirtual()
        .start(() -> {
          try {
            first.connection().output().write(large.getBytes(UTF_8));
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        });
    assertThat(new String(first.connection().input().readNBytes(large.length()), UTF_8))
        .isEqualTo(large);
    first.keep();

    Dialer.Lease second = dial(hub);
    assertThat(second.reused()).isTrue();
    assertThat(talk(second, "again")).isEqualTo("again");
    second.keep();

    Dialer.Lease fresh = hub.target("m").dialer().dial(true, LIMIT);
    assertThat(fresh.reused()).isFalse();
    assertThat(agent.opened).hasValue(2);
    fresh.connection().close();
    hub.lanes.pool("box").checkInvariants();
  }

  @Test
  void theStrictHttpClientSpeaksThroughALane() throws Exception {
    ScriptedEngine engine = keep(ScriptedEngine.start());
    LaneHub hub = hub();
    TestAgent agent = echoing(hub, 2);
    agent.serves(W, 2, engine.port());
    await().atMost(LIMIT).until(() -> hub.target("m").generation() == 2);
    Target target = hub.target("m");
    for (int i = 0; i < 3; i++) {
      Dialer.Lease lease = target.dialer().dial(false, LIMIT);
      Http1 client = new Http1(lease.connection(), target.host(), Http1Limits.DEFAULTS);
      HttpReply reply = client.exchange(HttpCall.get("/health", HttpHeaders.NONE));
      assertThat(reply.status()).isEqualTo(200);
      reply.bytes(100_000);
      assertThat(lease.reused()).isEqualTo(i > 0);
      assertThat(reply.reusable()).isTrue();
      lease.keep();
    }
    assertThat(engine.connections()).isEqualTo(1);
  }

  @Test
  void sixtyFourDialsAtOnceGetLanesThoughTwoAreWaiting() throws Exception {
    LaneHub hub = hub();
    TestAgent agent = echoing(hub, 2);
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Callable<String>> requests = new ArrayList<>();
      for (int i = 0; i < 64; i++) {
        String text = "request " + i;
        requests.add(() -> {
          Dialer.Lease lease = dial(hub);
          String reply = talk(lease, text);
          lease.connection().close();
          return reply.equals(text) ? "" : reply;
        });
      }
      for (Future<String> reply : executor.invokeAll(requests)) {
        assertThat(reply.get()).isEmpty();
      }
    }
    assertThat(agent.heard(ControlMessage.LanesWanted.class)).isPresent();
    hub.lanes.pool("box").checkInvariants();
  }

  @Test
  void whereNoLaneIsDonatedTheErrorSaysWhichNodeAndHowManyThereAre() throws Exception {
    LaneHub hub = hub();
    echoing(hub, 1).replenishes = false;
    await().atMost(LIMIT).until(() -> hub.lanes.pool("box").idle() == 1);
    Dialer dialer = hub.lanes.pool("gone-box").dialer("gone-box/m-1", 1);
    assertThatThrownBy(() -> dialer.dial(false, Duration.ofMillis(50)))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "no lane to node gone-box within 50 ms: it has 0 lanes (at most 1024), 0 of them"
                + " unopened; 1 request waits for one");
  }

  @Test
  void anAgentThatRefusesSaysWhyAndTheLaneIsNotUsedAgain() throws Exception {
    LaneHub hub = hub();
    TestAgent agent = echoing(hub, 1);
    agent.ports.clear();
    assertThatThrownBy(() -> dial(hub))
        .hasMessage("node box can't reach worker box/m-1: no worker box/m-1 runs here");
    await().atMost(LIMIT).until(() -> hub.lanes.pool("box").open() == 0);
  }

  @Test
  void anAgentThatDoesNotAnswerOpenIsNotWaitedForLong() throws Exception {
    LaneLimits limits =
        new LaneLimits(8, 512, 1024, LIMIT, Duration.ofMillis(50), LIMIT, LIMIT, LIMIT, 256, 60);
    LaneHub hub = keep(new LaneHub(limits, FleetLimits.DEFAULT)).serves(model("m", 1));
    TestAgent agent = echoing(hub, 1);
    agent.answersOpen = false;
    assertThatThrownBy(() -> dial(hub)).hasMessageContaining("did not answer within 50 ms");
  }

  @Test
  void deadLanesOfAKilledAgentLeaveThePoolAtOnce() throws Exception {
    LaneHub hub = hub();
    TestAgent agent = echoing(hub, 8);
    Dialer.Lease kept = dial(hub);
    assertThat(talk(kept, "x")).isEqualTo("x");
    kept.keep();
    await().atMost(LIMIT).until(() -> hub.lanes.pool("box").idle() == 8);

    agent.kill();

    await()
        .atMost(LIMIT)
        .until(() -> hub.lanes.pool("box").idle() + hub.lanes.pool("box").open() == 0);
    hub.lanes.pool("box").checkInvariants();
    assertThat(state(hub)).isIn(State.SUSPECT, State.LOST);
  }

  @Test
  void aTornControlLaneLetsWhatRunsGoOn() throws Exception {
    LaneHub hub = hub();
    TestAgent agent = echoing(hub, 2);
    Dialer.Lease running = dial(hub);
    assertThat(talk(running, "first half")).isEqualTo("first half");

    agent.tearControl();
    await().atMost(LIMIT).until(() -> state(hub) == State.SUSPECT);
    assertThat(hub.target("m").admitting()).isFalse();
    assertThat(talk(running, "second half")).isEqualTo("second half");
    running.connection().close();
  }

  @Test
  void whatRunsGoesOnWhileTheHubStopsAndWhatIsAskedIsRefused() throws Exception {
    LaneHub hub = keep(new LaneHub(LaneLimits.DEFAULT, FleetLimits.DEFAULT, LIMIT));
    hub.serves(model("m", 1));
    echoing(hub, 2);
    Dialer.Lease lease = dial(hub);
    assertThat(talk(lease, "hello")).isEqualTo("hello");

    try (HttpClient client = HttpClient.newHttpClient()) {
      var request =
          client.sendAsync(
              HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + hub.port() + "/held"))
                  .build(),
              HttpResponse.BodyHandlers.discarding());
      assertThat(hub.held.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();

      Thread stop = Thread.ofVirtual().start(hub::stopServer);
      await().atMost(LIMIT).until(() -> !refusal(hub).isEmpty());

      assertThat(refusal(hub)).contains("503", "Retry-After: 5", "\"code\":\"hub_stops\"");
      assertThat(talk(lease, "still there")).isEqualTo("still there");
      lease.keep();
      hub.hold.countDown();
      assertThat(request.get(LIMIT.toSeconds(), TimeUnit.SECONDS).statusCode()).isEqualTo(200);
      assertThat(stop.join(LIMIT)).as("the server has ended").isTrue();
      assertThat(hub.lanes.pool("box").idle()).isZero();
    }
  }

  /** What the hub says to who asks for its models now; empty while it answers. */
  private static String refusal(LaneHub hub) {
    try (TestClient client = TestClient.connect(hub.port())) {
      String reply = client.get("/v1/models", "Connection: close").untilClosed();
      return reply.startsWith("HTTP/1.1 503") ? reply : "";
    }
  }

  /** A stream that has begun, requests for whole answers, and one that waits for a slot. */
  private void aStopEndsWhatRuns(LaneHub hub, ScriptedEngine engine) throws Exception {
    Gate gate = Gate.closed();
    engine
        .whenChat(Script.answer("one", "two").stallAfter(2, gate))
        .alwaysChat(Script.answer("never").stallBeforeHead(gate));
    String chat =
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],\"stream\":%s}";
    try (TestClient streams = TestClient.connect(hub.port())) {
      streams.post("/v1/chat/completions", chat.formatted(true));
      assertThat(streams.replyHead().status()).isEqualTo(200);
      gate.awaitArrived(1);
      List<TestClient> others = new ArrayList<>();
      for (int i = 0; i < SLOTS; i++) {
        others.add(keep(TestClient.connect(hub.port())));
        others.getLast().post("/v1/chat/completions", chat.formatted(false));
      }
      gate.awaitArrived(SLOTS);
      await().atMost(LIMIT).until(() -> hub.dispatcher.waiting().containsKey("m"));

      Thread stop = Thread.ofVirtual().start(hub::stopServer);

      assertThat(streams.untilClosed())
          .contains("one", "\"code\":\"stream_cut\"", "the hub stops")
          .doesNotContain("[DONE]");
      for (TestClient each : others) {
        TestClient.Reply refused = each.reply();
        assertThat(refused.status()).as(refused.body()).isEqualTo(503);
        assertThat(refused.body()).contains("\"code\":\"hub_stops\"");
      }
      assertThat(stop.join(LIMIT)).as("the server has ended").isTrue();
      assertThat(hub.events).noneMatch(event -> event.startsWith("target-failed"));
    }
    gate.open();
  }

  @Test
  void aStreamThroughALaneIsToldThatTheHubStops() throws Exception {
    ScriptedEngine engine = keep(ScriptedEngine.start());
    LaneHub hub = hub();
    TestAgent agent = echoing(hub, 2);
    agent.serves(W, 2, engine.port());
    await().atMost(LIMIT).until(() -> hub.target("m").generation() == 2);
    aStopEndsWhatRuns(hub, engine);
  }

  @Test
  void aStreamFromABackendIsToldThatTheHubStops() throws Exception {
    ScriptedEngine engine = keep(ScriptedEngine.start());
    aStopEndsWhatRuns(keep(new LaneHub()).servesBackend("m", engine.url() + "/v1"), engine);
  }

  @Test
  void aStopWaitsForNothingWhereNothingRuns() throws Exception {
    LaneHub hub = keep(new LaneHub(LaneLimits.DEFAULT, FleetLimits.DEFAULT, FOR_EVER));
    hub.serves(model("m", 1));
    echoing(hub, 2);
    dial(hub).keep();
    try (TestClient idle = TestClient.connect(hub.port())) {
      assertThat(idle.get("/held/not").reply().status()).isEqualTo(404);

      assertThat(Thread.ofVirtual().start(hub::stopServer).join(LIMIT)).isTrue();
    }
  }

  @Test
  void anAgentThatDiesMidRequestEndsTheReadAtOnce() throws Exception {
    LaneHub hub = hub();
    TestAgent agent = echoing(hub, 2);
    Dialer.Lease running = dial(hub);
    assertThat(talk(running, "begun")).isEqualTo("begun");
    agent.kill();
    assertThat(endOf(running.connection().input())).isEqualTo(-1);
  }

  private static int endOf(InputStream input) {
    try {
      return input.read();
    } catch (IOException _) {
      return -1;
    }
  }

  @Test
  void closingALaneFromAnotherThreadEndsAReadThatWaits() throws Exception {
    Gate gate = Gate.closed();
    ScriptedEngine engine = keep(ScriptedEngine.start());
    engine.whenChat(Script.answer("never").stallBeforeHead(gate));
    LaneHub hub = hub();
    TestAgent agent = echoing(hub, 2);
    agent.serves(W, 2, engine.port());
    await().atMost(LIMIT).until(() -> hub.target("m").generation() == 2);
    Target target = hub.target("m");
    Dialer.Lease lease = target.dialer().dial(false, LIMIT);
    Http1 client = new Http1(lease.connection(), target.host(), Http1Limits.DEFAULTS);
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Integer> reply =
          executor.submit(() ->
              client
                  .exchange(
                      HttpCall.post(
                          ScriptedEngine.CHAT,
                          HttpHeaders.NONE,
                          "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}".getBytes(UTF_8)))
                  .status());
      gate.awaitArrived(1);
      lease.connection().close();
      assertThatThrownBy(reply::get).hasCauseInstanceOf(IOException.class);
    }
    gate.open();
  }

  @Test
  void aNewLaunchClosesTheLanesThatWereBoundToTheOld() throws Exception {
    LaneHub hub = hub();
    TestAgent agent = echoing(hub, 2);
    Dialer.Lease idle = dial(hub);
    Dialer.Lease running = dial(hub);
    assertThat(talk(idle, "x") + talk(running, "x")).isEqualTo("xx");
    idle.keep();

    agent.serves(W, 2, echo());
    await().atMost(LIMIT).until(() -> hub.target("m").generation() == 2);
    await().atMost(LIMIT).until(() -> hub.lanes.pool("box").open() == 1);
    running.keep();
    assertThat(hub.lanes.pool("box").open()).as("not kept").isZero();
    Dialer.Lease next = dial(hub);
    assertThat(next.reused()).isFalse();
    next.connection().close();
  }

  @Test
  void anIdleLaneWhoseEngineClosesItLeavesThePoolAndOneThatIsAskedAgainAnswers() throws Exception {
    LaneHub hub = hub();
    TestAgent agent = echoing(hub, 3);
    Dialer.Lease first = dial(hub);
    Dialer.Lease second = dial(hub);
    assertThat(talk(first, "x") + talk(second, "x")).isEqualTo("xx");
    first.keep();
    second.keep();
    await().atMost(LIMIT).until(() -> agent.engineSockets.size() == 2);
    await().atMost(LIMIT).until(() -> hub.lanes.pool("box").watched() == 2);

    Dialer.Lease again = dial(hub);
    assertThat(again.reused()).isTrue();
    assertThat(talk(again, "still there")).isEqualTo("still there");

    agent.engineSockets.forEach(TestAgent::shut);
    await().atMost(LIMIT).until(() -> hub.lanes.pool("box").open() == 1);
    again.connection().close();
    hub.lanes.pool("box").checkInvariants();
  }

  @Test
  void idleLanesAreClosed() throws Exception {
    LaneLimits limits =
        new LaneLimits(
            1,
            512,
            1024,
            LIMIT,
            LIMIT,
            Duration.ofMillis(10),
            Duration.ofMillis(10),
            LIMIT,
            256,
            60);
    LaneHub hub = keep(new LaneHub(limits, FleetLimits.DEFAULT)).serves(model("m", 1));
    TestAgent agent = keep(new TestAgent(hub.port(), "box", 1));
    agent.replenishes = false;
    await().atMost(LIMIT).until(() -> agent.heard(ControlMessage.Desired.class).isPresent());
    agent.serves(W, 1, echo());
    await().atMost(LIMIT).until(() -> state(hub) == State.SERVING);
    agent.lanes(4);
    Dialer.Lease lease = dial(hub);
    assertThat(talk(lease, "x")).isEqualTo("x");
    lease.keep();
    await().atMost(LIMIT).until(() -> hub.lanes.pool("box").open() == 0);
    await().atMost(LIMIT).until(() -> hub.lanes.pool("box").idle() == 1);
  }

  @Test
  void aNewerAgentReplacesTheOldAndAnOlderOneIsRefused() throws Exception {
    LaneHub hub = hub();
    TestAgent first = keep(new TestAgent(hub.port(), "box", 5));
    await().atMost(LIMIT).until(() -> first.heard(ControlMessage.Welcome.class).isPresent());
    first.lanes(3);
    await().atMost(LIMIT).until(() -> hub.lanes.pool("box").idle() == 3);

    TestAgent stale = keep(new TestAgent(hub.port(), "box", 4));
    await().atMost(LIMIT).until(() -> stale.controlEnded);
    assertThat(stale.heard(ControlMessage.Refusal.class).orElseThrow().code()).isEqualTo("stale");

    TestAgent second = keep(new TestAgent(hub.port(), "box", 6));
    await().atMost(LIMIT).until(() -> second.heard(ControlMessage.Welcome.class).isPresent());
    await().atMost(LIMIT).until(() -> first.controlEnded);
    await().atMost(LIMIT).until(() -> hub.lanes.pool("box").idle() == 0);
    assertThat(answerTo(hub, TestAgent.upgrade("work", "box", 5, LaneHub.credential("box"))))
        .startsWith("HTTP/1.1 409 ")
        .contains("generation 6 took its place");
  }

  /** Neither a machine whose power went, nor a process that became another, closes its lanes. */
  @Test
  void whatRanThroughAnAgentEndsWhenItIsBackAsAnotherRunOfItself() throws Exception {
    LaneHub hub = hub();
    echoing(hub, 2);
    Dialer.Lease running = dial(hub);
    assertThat(talk(running, "begun")).isEqualTo("begun");

    TestAgent next = keep(new TestAgent(hub.port(), "box", 2));

    await().atMost(LIMIT).until(() -> next.heard(ControlMessage.Welcome.class).isPresent());
    await().atMost(LIMIT).until(() -> hub.lanes.pool("box").open() == 0);
    assertThat(endOf(running.connection().input())).isEqualTo(-1);
    hub.lanes.pool("box").checkInvariants();
  }

  @Test
  void twoAgentsWithOneName() throws Exception {
    LaneHub hub = hub();
    TestAgent first = keep(new TestAgent(hub.port(), "box", 1));
    await().atMost(LIMIT).until(() -> first.heard(ControlMessage.Welcome.class).isPresent());
    TestAgent other = keep(new TestAgent(hub.port(), "box", 9, "another-id"));
    await().atMost(LIMIT).until(() -> other.controlEnded);
    assertThat(other.heard(ControlMessage.Refusal.class).orElseThrow())
        .satisfies(refusal -> {
          assertThat(refusal.code()).isEqualTo("name-taken");
          assertThat(refusal.retry()).isFalse();
        });
    assertThat(first.controlEnded).isFalse();
  }

  @Test
  void aHeartbeatIsAnsweredAndSilenceCutsTheLane() {
    FleetLimits quick =
        new FleetLimits(
            Duration.ofMillis(100),
            Duration.ofSeconds(120),
            Duration.ofSeconds(60),
            Duration.ofMinutes(10),
            Duration.ofMinutes(10),
            Duration.ofSeconds(30),
            Duration.ofMinutes(10),
            256,
            60,
            64);
    LaneHub hub = keep(new LaneHub(LaneLimits.DEFAULT, quick)).serves(model("m", 1));
    TestAgent agent = keep(new TestAgent(hub.port(), "box", 1));
    await().atMost(LIMIT).until(() -> agent.heard(ControlMessage.Welcome.class).isPresent());
    agent.heartbeat();
    await()
        .atMost(LIMIT)
        .until(() -> agent.told.contains(new ControlMessage.LanesWanted(0)) || agent.controlEnded);
    assertThat(agent.told).contains(new ControlMessage.LanesWanted(0));
    await().atMost(LIMIT).until(() -> agent.controlEnded);
  }

  @Test
  void whatIsNoControlMessageEndsTheLane() throws Exception {
    LaneHub hub = hub();
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), hub.port())) {
      socket
          .getOutputStream()
          .write(TestAgent.upgrade("control", "box", 1, LaneHub.credential("box")).getBytes(UTF_8));
      assertThat(TestAgent.head(socket.getInputStream())).startsWith("HTTP/1.1 101 ");
      socket.getOutputStream().write("{\"type\":\"heartbeat\"\n".getBytes(UTF_8));
      assertThat(socket.getInputStream().readAllBytes()).isEmpty();
    }
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), hub.port())) {
      socket
          .getOutputStream()
          .write(TestAgent.upgrade("control", "box", 1, LaneHub.credential("box")).getBytes(UTF_8));
      TestAgent.head(socket.getInputStream());
      socket.getOutputStream().write("{\"type\":\"goodbye\",\"reason\":\"x\"}\n".getBytes(UTF_8));
      assertThat(new String(socket.getInputStream().readAllBytes(), UTF_8))
          .contains("refusal", "hello-first");
    }
  }

  @Test
  void aBadCredentialNameOrGenerationIsAnsweredAndClosed() throws Exception {
    LaneHub hub = hub();
    for (String kind : List.of("control", "work")) {
      assertThat(answerTo(hub, TestAgent.upgrade(kind, "box", 1, "wrong")))
          .startsWith("HTTP/1.1 401 Unauthorized\r\n")
          .contains("bad_credential", "flotilla tokens");
      assertThat(answerTo(hub, TestAgent.upgrade(kind, "../etc", 1, "x")))
          .startsWith("HTTP/1.1 400 ")
          .contains("bad_node");
      assertThat(answerTo(hub, TestAgent.upgrade(kind, "box", "-1", LaneHub.credential("box"))))
          .startsWith("HTTP/1.1 400 ")
          .contains("bad_generation");
      assertThat(answerTo(hub, TestAgent.upgrade(kind, "box", 1, "y".repeat(2000))))
          .startsWith("HTTP/1.1 401 ");
    }
    assertThat(
            answerTo(hub, "GET /lanes/control HTTP/1.1\r\nHost: hub\r\nConnection: close\r\n\r\n"))
        .startsWith("HTTP/1.1 426 ")
        .contains("upgrade_required");
  }

  /** The whole answer up to the end of the connection, or of the body where that comes first. */
  private static String answerTo(LaneHub hub, String request) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), hub.port())) {
      socket.setSoTimeout((int) LIMIT.toMillis());
      socket.getOutputStream().write(request.getBytes(UTF_8));
      InputStream in = socket.getInputStream();
      String head = TestAgent.head(in);
      int at = head.toLowerCase(java.util.Locale.ROOT).indexOf("content-length: ");
      int length = at < 0 ? 0 : Integer.parseInt(head.substring(at + 16, head.indexOf('\r', at)));
      return head + new String(in.readNBytes(length), UTF_8);
    }
  }

  private static String enrol(LaneHub hub, String body) throws IOException {
    return answerTo(
        hub,
        "POST /api/enrol HTTP/1.1\r\nHost: hub\r\nContent-Type: application/json\r\nContent-Length: "
            + body.getBytes(UTF_8).length
            + "\r\n\r\n"
            + body);
  }

  private static String enrolment(String token, String node, String agentId) {
    return "{\"token\":\"%s\",\"node\":\"%s\",\"agentId\":\"%s\"}".formatted(token, node, agentId);
  }

  @Test
  void aTokenBecomesACredential() throws Exception {
    LaneHub hub = hub();
    assertThat(enrol(hub, enrolment(LaneHub.TOKEN, "box", "a")))
        .startsWith("HTTP/1.1 200 ")
        .endsWith("{\"credential\":\"credential-of-box\"}");
    assertThat(enrol(hub, enrolment("guess", "box", "a")))
        .startsWith("HTTP/1.1 401 ")
        .contains("none of this hub's", "flotilla tokens")
        .doesNotContain("guess");
    assertThat(enrol(hub, enrolment(LaneHub.TOKEN, "box", "b")))
        .startsWith("HTTP/1.1 409 ")
        .contains("name_taken", "--name");
    assertThat(enrol(hub, enrolment(LaneHub.TOKEN, "a/b", "a"))).startsWith("HTTP/1.1 400 ");
    assertThat(enrol(hub, enrolment(LaneHub.TOKEN, "n".repeat(10_000), "a")))
        .startsWith("HTTP/1.1 413 ");
    assertThat(enrol(hub, "{\"token\":7}")).startsWith("HTTP/1.1 400 ").contains("token is not");
    assertThat(enrol(hub, "no json")).startsWith("HTTP/1.1 400 ").contains("not JSON");
    assertThat(enrol(hub, "")).startsWith("HTTP/1.1 400 ");
  }

  @Test
  void guessingTokensIsHeldToARate() throws Exception {
    LaneLimits limits = new LaneLimits(8, 512, 1024, LIMIT, LIMIT, LIMIT, LIMIT, LIMIT, 256, 3);
    LaneHub hub = keep(new LaneHub(limits, FleetLimits.DEFAULT));
    for (int i = 0; i < 3; i++) {
      assertThat(enrol(hub, enrolment("guess" + i, "box", "a"))).startsWith("HTTP/1.1 401 ");
    }
    assertThat(enrol(hub, enrolment(LaneHub.TOKEN, "box", "a")))
        .startsWith("HTTP/1.1 429 ")
        .containsIgnoringCase("retry-after: 60");
  }
}
