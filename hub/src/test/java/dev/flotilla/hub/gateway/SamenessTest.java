package dev.flotilla.hub.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.shape.probe.ProbeResult;
import dev.flotilla.testkit.ScriptedEngine;
import dev.flotilla.testkit.Tape;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Through the hub four engines have one shape. The built-in one runs here, the others are the
 * recorded ones, byte for byte; {@link SamenessEnginesTest} has the real ones.
 */
class SamenessTest {
  private static Sameness sameness = new Sameness();

  /** What the hub refuses for an engine, and nothing else. */
  static final Map<String, Set<String>> NOT_ELIGIBLE =
      Map.of(
          Sameness.BUILTIN,
          Set.of(),
          Sameness.LLAMA_SERVER,
          Set.of(),
          "vllm",
          Set.of(),
          "mlx-lm",
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
    assertThat(different(sameness)).containsExactly(DIFFERENT);
  }

  @Test
  void notEligibleIsOnlyWhatTheEngineWasSeenToLack() {
    NOT_ELIGIBLE.forEach((engine, probes) ->
        assertThat(sameness.notEligible(engine)).as(engine).containsOnlyKeys(probes));
  }

  @Test
  void theBuiltInEnginesOwnRepliesAreAsPromised() {
    assertThat(sameness.raw(Sameness.BUILTIN))
        .filteredOn(result -> Sameness.firstBroken(result).isPresent())
        .extracting(result -> result.probe().name())
        .containsExactly("unknown-field");
  }

  @Test
  void theOthersThemselvesDifferInMostOfIt() {
    for (String engine : List.of(Sameness.LLAMA_SERVER, "vllm", "mlx-lm")) {
      assertThat(sameness.raw(engine))
          .as(engine)
          .filteredOn(result -> Sameness.firstBroken(result).isPresent())
          .hasSizeGreaterThan(sameness.raw(engine).size() / 2);
    }
  }

  @Test
  void thePageOfTheDocumentsIsOfTheseRecordings() throws IOException {
    Path page = Path.of(System.getProperty("flotilla.root", ".."), "docs", "sameness.md");

    // The page as it is to be, should it have to be another.
    Files.writeString(Path.of("target", "sameness.md"), sameness.page());
    assertThat(page).hasContent(sameness.page());
  }

  /** Cells that are neither same nor not eligible. */
  static List<String> different(Sameness sameness) {
    List<String> different = new ArrayList<>();
    for (String engine : Sameness.ENGINES) {
      for (ProbeResult result : sameness.throughHub(engine)) {
        String cell = sameness.cell(engine, result);
        if (cell.startsWith("different")) {
          different.add(engine + ", " + result.probe().name() + ": " + cell);
        }
      }
    }
    return different;
  }

  /** Once for all tests: the built-in engine has to compute its answers. */
  @BeforeAll
  static void askAll() {
    sameness = new Sameness();
    try (BuiltinServer server = BuiltinServer.start()) {
      sameness.ask(Sameness.BUILTIN, server.engine());
    }
    for (String engine : List.of(Sameness.LLAMA_SERVER, "vllm", "mlx-lm")) {
      try (ScriptedEngine server = Tape.named(engine).playing()) {
        sameness.ask(engine, server);
      }
    }
  }
}
