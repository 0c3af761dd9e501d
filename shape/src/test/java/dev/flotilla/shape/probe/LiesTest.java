package dev.flotilla.shape.probe;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.shape.dialect.Promise;
import dev.flotilla.shape.probe.Verdict.Broken;
import dev.flotilla.shape.probe.Verdict.Unanswered;
import dev.flotilla.testkit.scripted.Lie;
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

/** An engine that lies in one way at a time: the probes find each lie and say what it is. */
class LiesTest {
  private static final int CONTEXT = 512;
  private static final ProbeTarget TARGET = new ProbeTarget(LyingEngine.MODEL, CONTEXT);
  private static final Promise PROMISE = new Promise(Reasoning.REASONING_CONTENT, true);

  @Test
  void anEngineThatKeepsToTheApiKeepsThePromiseInEveryProbe() {
    try (ScriptedEngine honest = LyingEngine.honest(CONTEXT)) {
      assertThat(found(honest)).isEmpty();
    }
  }

  @Test
  void everyLieIsFoundAndNamed() throws IOException {
    List<String> named = new ArrayList<>();
    for (Lie lie : Lie.all()) {
      try (ScriptedEngine engine = LyingEngine.telling(lie, CONTEXT)) {
        List<String> found = found(engine);
        named.add(lie + " (" + lie.words() + ")");
        named.add("  " + (found.isEmpty() ? "not found" : found.getFirst()));
      }
    }

    assertThat(String.join("\n", named) + "\n").isEqualTo(expected());
  }

  /** Each probe whose promise is broken, with the first difference. */
  private static List<String> found(ScriptedEngine engine) {
    List<String> found = new ArrayList<>();
    try (UrlCaller caller =
        new UrlCaller(URI.create(engine.url()), Optional.empty(), Optional.empty())) {
      new ProbeRun(ProbeLimits.DEFAULTS, System::nanoTime)
          .run(caller, TARGET, Probes.all())
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
    try (InputStream in = LiesTest.class.getResourceAsStream("lies.txt")) {
      return new String(Objects.requireNonNull(in).readAllBytes(), UTF_8);
    }
  }
}
