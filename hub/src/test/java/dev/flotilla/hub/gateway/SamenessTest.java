package dev.flotilla.hub.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.shape.probe.ProbeResult;
import dev.flotilla.testkit.real.RealEngine;
import dev.flotilla.testkit.real.RealServer;
import dev.flotilla.testkit.real.Tape;
import dev.flotilla.testkit.scripted.ScriptedEngine;
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
 * Through the hub four engines have one shape. The built-in one and llama-server run here; of vLLM
 * and mlx-lm it is what was recorded, byte for byte. {@link SamenessEnginesTest} has all real ones.
 */
class SamenessTest {
  static final Path PAGE =
      Path.of(System.getProperty("flotilla.root", ".."), "docs", "sameness.md");

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

  /** Probes whose answers end at the same token on every engine: at a limit, or the first word. */
  private static final List<String> COUNTED =
      List.of(
          "plain",
          "streamed-usage",
          "stop",
          "length",
          "n",
          "n-streamed",
          "completion",
          "completion-streamed");

  @Test
  void throughTheHubEveryCellIsTheSameOrNotEligible() {
    assertThat(different(sameness)).isEmpty();
  }

  @Test
  void notEligibleIsOnlyWhatTheEngineWasSeenToLack() {
    NOT_ELIGIBLE.forEach((engine, probes) ->
        assertThat(sameness.notEligible(engine)).as(engine).containsOnlyKeys(probes));
  }

  @Test
  void aThoughtIsWhereTheNameHasItWhateverFieldItsEngineHasForIt() {
    for (String engine : Sameness.ENGINES) {
      assertThat(sameness.thought(sameness.throughHub(engine), "reasoning-on"))
          .as(engine)
          .isEqualTo("reasoning_content");
      assertThat(sameness.thought(sameness.throughHub(engine), "reasoning-off"))
          .as(engine)
          .isEqualTo("none");
    }
    assertThat(sameness.thought(sameness.raw("vllm"), "reasoning-on")).isEqualTo("reasoning");
    assertThat(sameness.thought(sameness.raw("mlx-lm"), "reasoning-on")).isEqualTo("reasoning");
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
  void whatAnAnswerCostIsCountedTheSame() {
    for (String engine : Sameness.ENGINES) {
      for (String probe : COUNTED) {
        assertThat(sameness.cost(engine, probe))
            .as("%s, %s", engine, probe)
            .hasSize(2)
            .isEqualTo(sameness.cost(Sameness.LLAMA_SERVER, probe));
      }
      assertThat(sameness.cost(engine, "stop"))
          .as("%s draws \"The\" and stops at its last letter", engine)
          .contains("\"completion_tokens\":1");
      assertThat(sameness.cost(engine, "n"))
          .as("%s, two answers", engine)
          .contains("\"completion_tokens\":8");
    }
  }

  @Test
  void thePageOfTheDocumentsSaysThis() throws IOException {
    // The page as it is to be, should it have to be another.
    Files.writeString(Path.of("target", "sameness.md"), sameness.page());
    assertThat(PAGE).hasContent(sameness.page());
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

  /** Once for all tests: two of them have to compute their answers. */
  @BeforeAll
  static void askAll() {
    sameness = new Sameness();
    try (BuiltinServer server = BuiltinServer.start()) {
      sameness.ask(Sameness.BUILTIN, server.engine());
    }
    try (BuiltinServer server = BuiltinServer.thinking()) {
      sameness.askForThoughts(Sameness.BUILTIN, server.engine());
    }
    // Between the two stands a server that hands on: what it takes down is for nobody.
    try (RealServer server = Sameness.order(RealEngine.LLAMA_SERVER).start();
        ScriptedEngine between = Tape.empty().recording(server)) {
      sameness.ask(Sameness.LLAMA_SERVER, between);
    }
    try (RealServer server = Sameness.thinkingOrder(RealEngine.LLAMA_SERVER).start();
        ScriptedEngine between = Tape.empty().recording(server)) {
      sameness.askForThoughts(Sameness.LLAMA_SERVER, between);
    }
    for (String engine : List.of("vllm", "mlx-lm")) {
      try (ScriptedEngine server = Tape.named(engine).playing()) {
        sameness.ask(engine, server);
        sameness.askForThoughts(engine, server);
      }
    }
  }
}
