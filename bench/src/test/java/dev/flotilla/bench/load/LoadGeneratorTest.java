package dev.flotilla.bench.load;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.flotilla.bench.dataset.Prompt;
import dev.flotilla.bench.dataset.Prompt.Input;
import dev.flotilla.bench.measure.Chunks;
import dev.flotilla.bench.measure.Load;
import dev.flotilla.bench.measure.RequestRecord;
import dev.flotilla.bench.measure.RequestRecord.CountedBy;
import dev.flotilla.bench.measure.RequestRecord.Kind;
import dev.flotilla.bench.measure.RequestRecord.Outcome;
import dev.flotilla.bench.measure.RequestRecord.Outcome.Failed;
import dev.flotilla.bench.measure.Run;
import dev.flotilla.testkit.scripted.Gate;
import dev.flotilla.testkit.scripted.Script;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import dev.flotilla.wire.http.HttpHeaders;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A run as its client sees it. */
class LoadGeneratorTest {
  private static final LoadLimits SHORT =
      LoadLimits.DEFAULTS.within(
          Duration.ofMillis(200), Duration.ofMillis(200), Duration.ofSeconds(20));

  private final ScriptedEngine engine = ScriptedEngine.start();
  private final Progress progress = new Progress();

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void eachPromptIsAskedOnceAndItsChunksAreTimed() throws Exception {
    engine.alwaysChat(Script.answer("One ", "two ", "three"));

    Run run = run(LoadPlan.closed(2), 5);

    assertThat(run.partial()).isFalse();
    assertThat(run.requests()).hasSize(5).allMatch(RequestRecord::succeeded);
    assertThat(engine.chats()).hasSize(5);
    RequestRecord first = run.requests().getFirst();
    assertThat(first.output()).isEqualTo("One two three");
    assertThat(first.chunks().count()).as("neither role nor usage is a chunk").isEqualTo(3);
    assertThat(first.outputTokens()).isEqualTo(3);
    assertThat(first.countedBy()).isEqualTo(CountedBy.SERVER);
    assertThat(first.finishReason()).contains("stop");
    assertThat(first.scheduledNanos()).isEqualTo(first.sentNanos());
    assertThat(first.chunks().nanos(0)).isGreaterThan(first.sentNanos());
    assertThat(first.endNanos()).isGreaterThanOrEqualTo(first.chunks().nanos(2));
    assertThat(progress.done()).isEqualTo(5);
    assertThat(progress.outputTokens()).isEqualTo(15);
  }

  @Test
  void aClosedLoopHasNoMoreUnderWayThanAllowedAndKeepsItsConnections() throws Exception {
    run(LoadPlan.closed(3), 30);

    assertThat(engine.inFlightMax()).isLessThanOrEqualTo(3);
    assertThat(engine.connections()).isEqualTo(3);
  }

  @Test
  void withoutKeepAliveEachRequestHasAConnectionOfItsOwn() throws Exception {
    Run run =
        generator(LoadLimits.DEFAULTS, false)
            .run(load(6), LoadPlan.closed(2), prompts(6), progress);

    assertThat(run.requests()).allMatch(RequestRecord::succeeded);
    assertThat(engine.connections()).isEqualTo(6);
  }

  @Test
  void aConnectionThatTheServerClosedIdleIsNoFailure() throws Exception {
    // The first reply comes whole, then the server closes as if its keep-alive had run out.
    engine.whenChat(Script.answer("a"), Script.closeBeforeFirstByte(), Script.answer("b"));

    Run run = run(LoadPlan.closed(1), 2);

    assertThat(run.requests()).allMatch(RequestRecord::succeeded);
    assertThat(run.requests().get(1).output()).isEqualTo("b");
  }

  @Test
  void anOpenLoopSendsWhenDueWhateverTheServerDoes() throws Exception {
    Gate gate = Gate.closed();
    engine.alwaysChat(Script.answer("a").stallBeforeHead(gate));
    LoadPlan plan =
        new LoadPlan(new Arrivals.Constant(200, Double.POSITIVE_INFINITY), 0, 0, Optional.empty());

    CompletableFuture<Run> running = running(plan, 10);
    engine.awaitInFlight(10);
    gate.open();
    Run run = running.join();

    assertThat(run.requests()).hasSize(10).allMatch(RequestRecord::succeeded);
    for (RequestRecord request : run.requests()) {
      assertThat(request.scheduledNanos()).isEqualTo((request.index() + 1) * 5_000_000L);
      assertThat(request.sentNanos()).isGreaterThanOrEqualTo(request.scheduledNanos());
    }
    assertThat(run.generator().sendMaxNanos()).isPositive();
  }

  @Test
  void whatWaitsForAPlaceBelowTheLimitKeepsTheTimeWhenItWasDue() throws Exception {
    Gate gate = Gate.closed();
    engine.whenChat(Script.answer("a").stallBeforeHead(gate));
    LoadPlan plan =
        new LoadPlan(new Arrivals.Constant(1000, Double.POSITIVE_INFINITY), 1, 0, Optional.empty());

    CompletableFuture<Run> running = running(plan, 3);
    engine.awaitInFlight(1);
    await().until(() -> progress.sent() == 1);
    long begun = System.nanoTime();
    await().until(() -> System.nanoTime() - begun > Duration.ofMillis(20).toNanos());
    gate.open();
    Run run = running.join();

    assertThat(engine.inFlightMax()).isEqualTo(1);
    RequestRecord last = run.requests().get(2);
    assertThat(last.scheduledNanos()).isEqualTo(3_000_000);
    assertThat(last.sentNanos() - last.scheduledNanos())
        .as("the server's delay, not the client's")
        .isGreaterThan(run.generator().sendMaxNanos());
  }

  @Test
  void aReplayKeepsItsOwnTimes() throws Exception {
    LoadPlan plan =
        new LoadPlan(
            new Arrivals.Recorded(
                List.of(Duration.ZERO, Duration.ofMillis(1), Duration.ofMillis(9))),
            0,
            0,
            Optional.empty());

    assertThat(run(plan, 3).requests().stream().mapToLong(RequestRecord::scheduledNanos))
        .containsExactly(0L, 1_000_000L, 9_000_000L);
  }

  @Test
  void warmUpsRepeatTheFirstPromptAndAreNoRequestsOfTheRun() throws Exception {
    Run run = run(LoadPlan.closed(2).warmedBy(3), 4);

    assertThat(run.requests()).hasSize(4);
    assertThat(progress.total()).isEqualTo(4);
    assertThat(engine.chats()).hasSize(7);
    assertThat(engine.chats().subList(0, 3)).allMatch(chat -> chat.bodyText().contains("prompt 0"));
  }

  @Test
  void whereEveryWarmUpFailsThereIsNothingToMeasure() {
    engine.alwaysChat(Script.serverError());

    assertThatThrownBy(() -> run(LoadPlan.closed(2).warmedBy(2), 4))
        .isInstanceOf(ServerUnusable.class)
        .hasMessage(
            "can't measure %s/v1: every warm-up request failed: 500: something broke in the engine",
            engine.url());
  }

  @Test
  void aRunThatIsStoppedGivesItsResultsSoFar() throws Exception {
    Gate never = Gate.closed();
    engine.whenChat(Script.answer("a"), Script.answer("b"));
    engine.alwaysChat(Script.answer("c", "d").stallAfter(1, never));
    LoadGenerator generator = generator(LoadLimits.DEFAULTS, true);
    CompletableFuture<Run> running =
        CompletableFuture.supplyAsync(() -> go(generator, LoadPlan.closed(2), 100));

    await().until(() -> progress.done() == 2 && engine.inFlight() == 2);
    generator.stop();
    Run run = running.join();

    assertThat(run.partial()).isTrue();
    assertThat(run.requests()).hasSize(4);
    assertThat(run.requests()).filteredOn(RequestRecord::succeeded).hasSize(2);
    assertThat(run.requests()).filteredOn(r -> kind(r) == Kind.CANCELLED).hasSize(2);
  }

  @Test
  void aTimeLimitEndsARunLikeAUserWould() throws Exception {
    engine.alwaysChat(Script.answer("a").stallBeforeHead(Gate.closed()));
    LoadPlan plan = new LoadPlan(new Arrivals.AtOnce(), 2, 0, Optional.of(Duration.ofMillis(100)));

    Run run = run(plan, 10);

    assertThat(run.partial()).isTrue();
    assertThat(run.requests()).hasSize(2).allMatch(r -> kind(r) == Kind.CANCELLED);
  }

  @Test
  void aServerThatIsNotThereIsSaidBeforeAnythingIsSent() {
    engine.die();

    assertThatThrownBy(() -> run(LoadPlan.closed(2), 4))
        .isInstanceOf(ServerUnusable.class)
        .hasMessage(
            "can't measure %s/v1: nothing listens on 127.0.0.1:%d", engine.url(), engine.port());
  }

  @Test
  void aServerThatDiesOnTheWayLeavesCutAndRefusedConnections() throws Exception {
    engine.whenChat(Script.answer("a"), exchange -> exchange.engine().die());

    Run run = run(LoadPlan.closed(1), 5);

    assertThat(run.requests().stream().map(LoadGeneratorTest::kind))
        .as("the second was asked again over a new connection, which there was not")
        .containsExactly(null, Kind.CONNECT, Kind.CONNECT, Kind.CONNECT, Kind.CONNECT);
    assertThat(message(run.requests().get(4)))
        .isEqualTo("nothing listens on 127.0.0.1:" + engine.port());
  }

  static List<Arguments> endings() {
    return List.of(
        Arguments.of(
            Script.error(429, "rate_limit_exceeded", "slow down"), Kind.REFUSED, "429: slow down"),
        Arguments.of(Script.loading(), Kind.REFUSED, "503: Loading model"),
        Arguments.of(Script.modelNotFound("x"), Kind.STATUS, "404: The model `x` does not exist."),
        Arguments.of(Script.json(400, "{}"), Kind.STATUS, "400"),
        Arguments.of(
            Script.error(400, "invalid", "unknown field continuous_usage_stats"),
            Kind.STATUS,
            "400: unknown field continuous_usage_stats (leave it out with --no-continuous-usage)"),
        Arguments.of(
            Script.answer("a", "b").errorAfter(1),
            Kind.IN_BAND,
            "the stream held an error: context shift failed"),
        Arguments.of(
            Script.json(200, "{\"error\":{\"message\":\"no\"}}"),
            Kind.IN_BAND,
            "the stream held an error: no"),
        Arguments.of(
            Script.answer("a", "b").dropAfter(1), Kind.CUT, "the connection to the server failed"),
        Arguments.of(
            Script.answer("a", "b").closeAfter(1),
            Kind.CUT,
            "the server closed the connection in the middle of its reply"),
        Arguments.of(
            Script.answer("a").withoutFinishReason().withoutDone(),
            Kind.CUT,
            "the stream ended without a finish_reason and without [DONE]"),
        Arguments.of(Script.answer(), Kind.EMPTY, "a whole reply without output"),
        Arguments.of(
            Script.answer("a").garbageAfter(0),
            Kind.MALFORMED,
            "an event of the stream is no JSON object"),
        Arguments.of(
            Script.json(200, "{\"choices\":[{\"message\":{\"content\":\"a\"}}]}"),
            Kind.MALFORMED,
            "the server answers in one piece though a stream was asked for"),
        Arguments.of(
            (Script) exchange -> exchange.reply(200, "text/html", "<p>hello".getBytes(UTF_8)),
            Kind.MALFORMED,
            "the server answers 200 with text/html, which is no stream of OpenAI's API"),
        Arguments.of(
            (Script) Script.answer("a").stallBeforeFirstByte(Gate.closed()),
            Kind.TIMEOUT,
            "no output came within 200 ms"),
        Arguments.of(
            (Script) Script.answer("a", "b").stallAfter(1, Gate.closed()),
            Kind.TIMEOUT,
            "nothing more came for 200 ms"));
  }

  @ParameterizedTest
  @MethodSource("endings")
  void whateverEndsARequestIsOneKindAndOneSentence(Script script, Kind kind, String message)
      throws Exception {
    engine.whenChat(script);

    Run run = generator(SHORT, true).run(load(2), LoadPlan.closed(1), prompts(2), progress);

    assertThat(kind(run.requests().getFirst())).isEqualTo(kind);
    assertThat(message(run.requests().getFirst())).isEqualTo(message);
    assertThat(run.requests().get(1).succeeded()).as("the next request").isTrue();
  }

  @Test
  void aReplyThatNeverEndsEndsAtItsLimitOfBytes() throws Exception {
    engine.whenChat(Script.chunks(100_000));
    LoadLimits small =
        new LoadLimits(
            Duration.ofSeconds(5),
            Duration.ofSeconds(20),
            Duration.ofSeconds(20),
            Duration.ofSeconds(60),
            100_000,
            1_000,
            10_000,
            1_000);
    List<Prompt> endless =
        List.of(new Prompt("p", new Input.Text("Hi"), 1, 1_000_000, false, Optional.empty()));

    Run run = generator(small, true).run(load(1), LoadPlan.closed(1), endless, progress);

    RequestRecord request = run.requests().getFirst();
    assertThat(kind(request)).isEqualTo(Kind.MALFORMED);
    assertThat(message(request)).isEqualTo("the reply is longer than 100000 bytes");
    assertThat(request.output()).hasSizeLessThanOrEqualTo(1_000);
  }

  @Test
  void theWorkerAndTheCountOfEachChunkAreKept() throws Exception {
    engine.whenChat(exchange -> {
      exchange.raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n");
      exchange.raw("x-flotilla-worker: node-a/m-0\r\nConnection: close\r\n\r\n");
      exchange.event(counted("", 0));
      exchange.event(counted("a b", 2));
      exchange.event(counted("c d e", 5));
      exchange.event("{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}");
      exchange.event("[DONE]");
      exchange.close();
    });

    RequestRecord request = run(LoadPlan.closed(1), 1).requests().getFirst();

    assertThat(request.succeeded()).isTrue();
    assertThat(request.worker()).contains("node-a/m-0");
    Chunks chunks = request.chunks();
    assertThat(chunks.count()).isEqualTo(2);
    assertThat(chunks.tokens(0)).isEqualTo(2);
    assertThat(chunks.tokens(1)).isEqualTo(5);
    assertThat(request.outputTokens()).isEqualTo(5);
    assertThat(request.inputTokens()).isEqualTo(7);
  }

  private static String counted(String text, int tokens) {
    return ("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"}}],"
            + "\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":%d}}")
        .formatted(text, tokens);
  }

  @Test
  void aRehearsalTouchesNothingElse() throws Exception {
    Rehearsal.hold();

    assertThat(engine.connections()).isZero();
  }

  private Run run(LoadPlan plan, int prompts) throws Exception {
    return generator(LoadLimits.DEFAULTS, true)
        .run(load(prompts), plan, prompts(prompts), progress);
  }

  private CompletableFuture<Run> running(LoadPlan plan, int prompts) {
    LoadGenerator generator = generator(LoadLimits.DEFAULTS, true);
    return CompletableFuture.supplyAsync(() -> go(generator, plan, prompts));
  }

  private Run go(LoadGenerator generator, LoadPlan plan, int prompts) {
    try {
      return generator.run(load(prompts), plan, prompts(prompts), progress);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private LoadGenerator generator(LoadLimits limits, boolean keepAlive) {
    ServerUnderTest server =
        new ServerUnderTest(
            URI.create(engine.url()), Optional.empty(), HttpHeaders.NONE, Optional.empty());
    return new LoadGenerator(
        server, new RequestForm(Endpoint.OPENAI_CHAT, "scripted"), limits, keepAlive);
  }

  private Load load(int prompts) {
    return new Load(
        engine.url() + "/v1",
        "scripted",
        "openai-chat",
        "by hand",
        prompts,
        0,
        Double.POSITIVE_INFINITY,
        1,
        0);
  }

  private static List<Prompt> prompts(int count) {
    return IntStream.range(0, count)
        .mapToObj(i ->
            new Prompt("p-" + i, new Input.Text("prompt " + i), 2, 100, false, Optional.empty()))
        .toList();
  }

  private static @Nullable Kind kind(RequestRecord request) {
    return request.outcome() instanceof Failed failed ? failed.kind() : null;
  }

  private static String message(RequestRecord request) {
    return switch (request.outcome()) {
      case Failed failed -> failed.message();
      case Outcome.Succeeded _ -> "";
    };
  }
}
