package dev.flotilla.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.bench.dataset.Prompt;
import dev.flotilla.bench.dataset.Prompt.Input;
import dev.flotilla.bench.measure.Chunks;
import dev.flotilla.bench.measure.Load;
import dev.flotilla.bench.measure.RequestRecord;
import dev.flotilla.bench.measure.Run;
import dev.flotilla.bench.measure.Summary;
import dev.flotilla.testkit.scripted.Exchange;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import dev.flotilla.wire.http.HttpHeaders;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Live, on an engine with fixed times: what the client says is what the engine did, within the
 * larger of 1 % and 2 ms. Each request is compared with the times at which the engine really wrote
 * it, and the median of the differences counts: a busy machine moves both sides of a pair, and no
 * single hiccup decides.
 */
class LiveTimesTest {
  private static final Duration FIRST = Duration.ofMillis(120);
  private static final Duration GAP = Duration.ofMillis(25);
  private static final int PIECES = 12;
  private static final int REQUESTS = 15;

  /** What the engine did for each request, in nanoseconds; it works on one after the other. */
  private final List<Double> firsts = Collections.synchronizedList(new ArrayList<>());

  private final List<Double> gaps = Collections.synchronizedList(new ArrayList<>());
  private final List<Double> wholes = Collections.synchronizedList(new ArrayList<>());
  private final List<Double> ends = Collections.synchronizedList(new ArrayList<>());

  @Test
  void timesAreThoseOfTheEngine() throws Exception {
    Rehearsal.hold();
    try (ScriptedEngine engine = ScriptedEngine.start()) {
      engine.alwaysChat(this::paced);
      ServerUnderTest server =
          new ServerUnderTest(
              URI.create(engine.url()), Optional.empty(), HttpHeaders.NONE, Optional.empty());
      LoadGenerator generator =
          new LoadGenerator(
              server, new RequestForm(Endpoint.OPENAI_CHAT, "scripted"), LoadLimits.DEFAULTS, true);
      Load load =
          new Load(
              engine.url(),
              "scripted",
              "openai-chat",
              "paced",
              REQUESTS,
              1,
              Double.POSITIVE_INFINITY,
              1,
              0);

      Run run = generator.run(load, LoadPlan.closed(1), prompts(), new Progress());

      assertThat(run.requests()).hasSize(REQUESTS).allMatch(RequestRecord::succeeded);
      List<Double> measuredFirsts = new ArrayList<>();
      List<Double> measuredGaps = new ArrayList<>();
      List<Double> measuredWholes = new ArrayList<>();
      List<Double> measuredEnds = new ArrayList<>();
      for (RequestRecord request : run.requests()) {
        Chunks chunks = request.chunks();
        assertThat(chunks.count()).isEqualTo(PIECES);
        measuredFirsts.add((double) chunks.nanos(0) - request.sentNanos());
        for (int i = 1; i < PIECES; i++) {
          measuredGaps.add((double) chunks.nanos(i) - chunks.nanos(i - 1));
        }
        measuredWholes.add((double) chunks.nanos(PIECES - 1) - chunks.nanos(0));
        measuredEnds.add((double) request.endNanos() - request.sentNanos());
      }
      close("first token", measuredFirsts, firsts);
      close("between tokens", measuredGaps, gaps);
      close("first to last token", measuredWholes, wholes);
      close("whole reply", measuredEnds, ends);
      Summary summary = Summary.of(run);
      assertThat(summary.ttft().median()).isCloseTo(median(measuredFirsts) / 1e6, within(1e-6));
      assertThat(summary.itl().median()).isCloseTo(median(measuredGaps) / 1e6, within(1e-6));
      assertThat(summary.e2el().median()).isCloseTo(median(measuredEnds) / 1e6, within(1e-6));
    }
  }

  private static void close(String what, List<Double> measured, List<Double> engines) {
    assertThat(measured).as(what).hasSameSizeAs(engines);
    List<Double> differences =
        IntStream.range(0, measured.size())
            .mapToObj(i -> (measured.get(i) - engines.get(i)) / 1e6)
            .toList();
    double engineMillis = median(engines) / 1e6;
    assertThat(Math.abs(median(differences)))
        .as("%s: ms beside the engine's own %.3f ms", what, engineMillis)
        .isLessThanOrEqualTo(Math.max(2, engineMillis / 100));
  }

  /** Each piece at its place on a schedule, and a note of when it was really written. */
  private void paced(Exchange exchange) throws IOException {
    long begun = System.nanoTime();
    exchange.startStream();
    exchange.event("{\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}]}");
    long before = begun;
    long first = begun;
    for (int i = 0; i < PIECES; i++) {
      long due = begun + FIRST.toNanos() + i * GAP.toNanos();
      exchange.pause(Duration.ofNanos(Math.max(0, due - System.nanoTime())));
      long now = System.nanoTime();
      exchange.event("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}");
      if (i == 0) {
        first = now;
        firsts.add((double) now - begun);
      } else {
        gaps.add((double) now - before);
      }
      before = now;
    }
    wholes.add((double) before - first);
    exchange.event(
        "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":"
            + "{\"prompt_tokens\":2,\"completion_tokens\":"
            + PIECES
            + "}}");
    exchange.event("[DONE]");
    ends.add((double) System.nanoTime() - begun);
    exchange.endStream();
  }

  private static List<Prompt> prompts() {
    return IntStream.range(0, REQUESTS)
        .mapToObj(
            i -> new Prompt("p-" + i, new Input.Text("Hi"), 2, PIECES, false, Optional.empty()))
        .toList();
  }

  private static double median(List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    return Arrays.stream(sorted).skip((sorted.length - 1) / 2).findFirst().orElseThrow();
  }
}
