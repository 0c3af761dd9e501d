package dev.flotilla.shape.probe;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.shape.dialect.Promise;
import dev.flotilla.shape.probe.Verdict.Broken;
import dev.flotilla.shape.probe.Verdict.Unanswered;
import dev.flotilla.testkit.scripted.EmbeddingLie;
import dev.flotilla.testkit.scripted.LyingEngine;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** An engine that lies of vectors in one way at a time: the probes find each lie. */
final class EmbeddingLiesTest {
  private static final int CONTEXT = 512;
  private static final ProbeTarget TARGET = new ProbeTarget(LyingEngine.MODEL, CONTEXT);
  private static final Promise PROMISE = new Promise(Reasoning.OFF, false);

  @Test
  void anHonestEngineKeepsThePromiseInEveryProbe() {
    try (ScriptedEngine honest = LyingEngine.embedding(CONTEXT)) {
      assertThat(found(honest)).isEmpty();
    }
  }

  @Test
  void everyLieIsFoundAndNamed() throws IOException {
    List<String> named = new ArrayList<>();
    for (EmbeddingLie lie : EmbeddingLie.values()) {
      try (ScriptedEngine engine = LyingEngine.embedding(lie, CONTEXT)) {
        List<String> found = found(engine);
        named.add(lie + " (" + lie.words() + ")");
        named.add("  " + (found.isEmpty() ? "not found" : found.getFirst()));
      }
    }

    assertThat(String.join("\n", named) + "\n").isEqualTo(expected());
  }

  @Test
  void twoModelsWhoseVectorsHaveNotOneLengthDiffer() {
    Probe probe = Probes.named("embedding").orElseThrow();
    Shape one = shape(probe, "[0.6,0.8]");
    Shape other = shape(probe, "[0,1,0]");

    assertThat(Comparison.differences(probe, one, one)).isEmpty();
    assertThat(Comparison.differences(probe, one, other))
        .containsExactly(new Difference("vectors", "2 numbers each", "3 numbers each"));
  }

  private static Shape shape(Probe probe, String vector) {
    String body =
        """
        {"object":"list","model":"honest","data":[{"object":"embedding","index":0,"embedding":%s}],
         "usage":{"prompt_tokens":3,"total_tokens":3}}
        """
            .formatted(vector);
    return ShapeReader.read(
        new ProbeReply(200, "application/json", body.getBytes(UTF_8), Optional.empty()),
        probe,
        TARGET,
        ProbeLimits.DEFAULTS);
  }

  /** Each probe whose promise is broken, with the first difference. */
  private static List<String> found(ScriptedEngine engine) {
    List<String> found = new ArrayList<>();
    try (UrlCaller caller =
        new UrlCaller(URI.create(engine.url()), Optional.empty(), Optional.empty())) {
      new ProbeRun(ProbeLimits.DEFAULTS, System::nanoTime)
          .run(caller, TARGET, Probes.embeddings())
          .forEach(result -> {
            switch (Verdict.of(PROMISE, result)) {
              case Broken broken -> found.add(result.probe().name() + ": " + broken.first());
              case Unanswered silent -> found.add(result.probe().name() + ": " + silent.why());
              default -> {}
            }
          });
    }
    return found;
  }

  private static String expected() throws IOException {
    try (InputStream in = EmbeddingLiesTest.class.getResourceAsStream("embedding-lies.txt")) {
      return new String(Objects.requireNonNull(in).readAllBytes(), UTF_8);
    }
  }
}
