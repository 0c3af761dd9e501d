package dev.flotilla.hub.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.shape.probe.ProbeResult;
import dev.flotilla.testkit.RealEngine;
import dev.flotilla.testkit.ScriptedEngine;
import dev.flotilla.testkit.Tape;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Through the hub three engines have one shape. Here they are the recorded ones, byte for byte;
 * {@link SamenessEnginesTest} has the real ones.
 */
class SamenessTest {
  /** What the hub refuses for an engine, and nothing else. */
  static final Map<RealEngine, Set<String>> NOT_ELIGIBLE =
      Map.of(
          RealEngine.LLAMA_SERVER,
          Set.of(),
          RealEngine.VLLM,
          Set.of(),
          RealEngine.MLX_LM,
          Set.of(
              "prefill",
              "tools-required",
              "tools-named",
              "tools-parallel",
              "tools-streamed",
              "json-schema",
              "json-schema-streamed",
              "json-object",
              "logprobs-streamed"));

  /**
   * mlx-lm neither counts tokens for the hub nor minds its context: where a prompt's length is in
   * doubt and no other worker of the model counts, it is answered.
   */
  static final String[] DIFFERENT = {
    "mlx-lm, too-long: different: status: expected 400, seen 200",
    "mlx-lm, too-long-streamed: different: status: expected 400, seen 200",
  };

  @Test
  void throughTheHubEveryCellIsTheSameOrNotEligible() {
    Sameness sameness = recorded();

    assertThat(different(sameness)).containsExactly(DIFFERENT);
  }

  @Test
  void notEligibleIsOnlyWhatTheEngineWasSeenToLack() {
    Sameness sameness = recorded();

    NOT_ELIGIBLE.forEach((engine, probes) ->
        assertThat(sameness.notEligible(engine)).as(engine.word()).containsOnlyKeys(probes));
  }

  @Test
  void theEnginesThemselvesDifferInMostOfIt() {
    Sameness sameness = recorded();

    for (RealEngine engine : RealEngine.values()) {
      assertThat(sameness.raw(engine))
          .as(engine.word())
          .filteredOn(result -> Sameness.firstBroken(result).isPresent())
          .hasSizeGreaterThan(sameness.raw(engine).size() / 2);
    }
  }

  @Test
  void thePageOfTheDocumentsIsOfTheseRecordings() throws IOException {
    Path page = Path.of(System.getProperty("flotilla.root", ".."), "docs", "sameness.md");

    assertThat(page).hasContent(recorded().page());
  }

  /** Cells that are neither same nor not eligible. */
  static List<String> different(Sameness sameness) {
    List<String> different = new ArrayList<>();
    for (RealEngine engine : RealEngine.values()) {
      for (ProbeResult result : sameness.throughHub(engine)) {
        String cell = sameness.cell(engine, result);
        if (cell.startsWith("different")) {
          different.add(engine.word() + ", " + result.probe().name() + ": " + cell);
        }
      }
    }
    return different;
  }

  private static Sameness recorded() {
    Sameness sameness = new Sameness();
    for (RealEngine engine : RealEngine.values()) {
      try (ScriptedEngine server = Tape.named(engine.word()).playing()) {
        sameness.ask(engine, server);
      }
    }
    return sameness;
  }
}
