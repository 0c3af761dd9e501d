package dev.flotilla.shape.probe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.dialect.Promise;
import dev.flotilla.shape.probe.ProbeResult.LeftOut;
import dev.flotilla.shape.probe.ProbeResult.Replied;
import dev.flotilla.shape.probe.ProbeResult.Silent;
import dev.flotilla.testkit.scripted.Gate;
import dev.flotilla.testkit.scripted.LyingEngine;
import dev.flotilla.testkit.scripted.Script;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A run of probes ends, whatever the server does. */
class ProbeRunTest {
  private static final ProbeTarget TARGET = new ProbeTarget(LyingEngine.MODEL, 512);
  private static final ProbeReply NOTHING = new ProbeReply(200, "", new byte[0], Optional.empty());

  @Test
  void aServerThatGivesNoReplyIsNotAskedTheRest() {
    AtomicInteger asked = new AtomicInteger();
    Caller silent =
        (_, _) -> {
          asked.incrementAndGet();
          throw new IOException("nothing listens there");
        };

    List<ProbeResult> results = run().run(silent, TARGET, Probes.all());

    assertThat(asked).hasValue(3);
    assertThat(results).hasSameSizeAs(Probes.all());
    assertThat(results.get(2).outcome()).isEqualTo(new Silent("nothing listens there"));
    assertThat(results.get(3).outcome())
        .isEqualTo(new LeftOut("the server gave no reply 3 times in a row"));
  }

  @Test
  void whatTheTimeForAllIsTooShortForIsLeftOut() {
    AtomicLong clock = new AtomicLong();
    Caller slow =
        (_, limits) -> {
          clock.addAndGet(limits.call().toNanos());
          return NOTHING;
        };
    ProbeLimits limits = ProbeLimits.DEFAULTS.withRun(Duration.ofSeconds(90));

    List<ProbeResult> results = new ProbeRun(limits, clock::get).run(slow, TARGET, Probes.all());

    assertThat(results.get(0).took()).isEqualTo(Duration.ofSeconds(60));
    assertThat(results.get(1).took()).isEqualTo(Duration.ofSeconds(30));
    assertThat(results.get(2).outcome())
        .isEqualTo(new LeftOut("the time for all probes, 90 s, was up"));
  }

  @Test
  void anEngineThatNeverAnswersCostsOneProbesTimeEach() {
    try (ScriptedEngine engine = ScriptedEngine.start();
        UrlCaller caller =
            new UrlCaller(URI.create(engine.url()), Optional.empty(), Optional.empty())) {
      Gate never = Gate.closed();
      engine.alwaysChat(Script.stallThen(never, Script.notFound()));
      ProbeLimits limits = ProbeLimits.DEFAULTS.withCall(Duration.ofMillis(200));

      List<ProbeResult> results =
          new ProbeRun(limits, System::nanoTime).run(caller, TARGET, Probes.all().subList(0, 1));

      assertThat(results.getFirst().outcome())
          .isEqualTo(new Silent("the reply was not whole within 200 ms"));
    }
  }

  @Test
  void aStreamThatBreaksOffIsJudgedByWhatCame() {
    try (ScriptedEngine engine = ScriptedEngine.start();
        UrlCaller caller =
            new UrlCaller(URI.create(engine.url()), Optional.empty(), Optional.empty())) {
      engine.alwaysChat(Script.chunks(6).closeAfter(2));
      Probe streamed = Probes.named("streamed").orElseThrow();

      ProbeResult result = run().run(caller, TARGET, List.of(streamed)).getFirst();

      assertThat(result.outcome()).isInstanceOf(Replied.class);
      Shape shape = ((Replied) result.outcome()).shape();
      assertThat(shape.seen("body")).startsWith("events, cut: ");
      assertThat(shape.seen("order")).isEqualTo("role content…");
    }
  }

  @Test
  void withoutTheLengthOfTheContextNobodyCanAskForTooMuch() {
    List<ProbeResult> results = run().run((_, _) -> NOTHING, new ProbeTarget("m", 0), Probes.all());

    assertThat(results)
        .filteredOn(result -> result.outcome() instanceof LeftOut)
        .extracting(result -> result.probe().name())
        .containsExactly("too-long", "too-long-streamed");
  }

  @Test
  void aWorkerIsNotAskedForWhatItsEngineHasNot() {
    Promise promise = new Promise(Reasoning.REASONING_CONTENT, true);

    assertThat(Verdict.leftOut(Probes.named("json-schema").orElseThrow(), promise, Dialect.MLX_LM))
        .hasValueSatisfying(why -> assertThat(why).contains("response_format json_schema"));
    assertThat(Verdict.leftOut(Probes.named("json-schema").orElseThrow(), promise, Dialect.VLLM))
        .isEmpty();
    assertThat(
            Verdict.leftOut(
                Probes.named("tools-auto").orElseThrow(),
                new Promise(Reasoning.OFF, false),
                Dialect.VLLM))
        .contains("the model promises no tool calls");
  }

  @Test
  void probesHaveNamesOfTheirOwnAndBodiesThatAreJsonButOne() {
    List<Probe> all = new ArrayList<>(Probes.all());
    all.addAll(Probes.embeddings());
    assertThat(all).extracting(Probe::name).doesNotHaveDuplicates();
    assertThat(all)
        .filteredOn(probe -> !Json.read(probe.call(TARGET).body()).isObject())
        .extracting(Probe::name)
        .containsExactly("no-json", "embedding-no-json");
  }

  private static ProbeRun run() {
    return new ProbeRun(ProbeLimits.DEFAULTS, System::nanoTime);
  }
}
