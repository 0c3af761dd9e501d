package dev.flotilla.hub.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.testkit.ChatTemplate;
import dev.flotilla.testkit.RealEngine;
import dev.flotilla.testkit.RealServer;
import dev.flotilla.testkit.ScriptedEngine;
import dev.flotilla.testkit.Tape;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Through the hub the real llama-server, vLLM and mlx-lm have one shape. It writes {@code
 * docs/sameness.md}, and with {@code -Dflotilla.tapes=FOLDER} the recordings that the ordinary
 * build plays.
 */
@Tag(RealEngine.TAG)
class SamenessEnginesTest {

  @Test
  void throughTheHubEveryCellIsTheSameOrNotEligible() throws IOException {
    Sameness sameness = new Sameness();
    try (BuiltinServer server = BuiltinServer.start()) {
      sameness.ask(Sameness.BUILTIN, server.engine());
    }
    for (RealEngine engine : RealEngine.values()) {
      Tape tape = Tape.empty();
      try (RealServer server = order(engine).start();
          ScriptedEngine recording = tape.recording(server)) {
        sameness.ask(engine.word(), recording);
      }
      String tapes = System.getProperty("flotilla.tapes", "");
      if (!tapes.isEmpty()) {
        tape.save(Path.of(tapes), engine.word());
      }
    }
    Files.writeString(
        Path.of(System.getProperty("flotilla.root", ".."), "docs", "sameness.md"), sameness.page());

    assertThat(SamenessTest.different(sameness)).containsExactly(SamenessTest.DIFFERENT);
    SamenessTest.NOT_ELIGIBLE.forEach((engine, probes) ->
        assertThat(sameness.notEligible(engine)).as(engine).containsOnlyKeys(probes));
  }

  private static RealServer.Order order(RealEngine engine) {
    RealServer.Order order = RealServer.of(engine).name(Sameness.OWN_NAME);
    String context = Integer.toString(Sameness.CONTEXT);
    return switch (engine) {
      case LLAMA_SERVER ->
          order.options(
              "-c",
              Integer.toString(2 * Sameness.CONTEXT),
              "-t",
              "1",
              "--jinja",
              "--chat-template-file",
              ChatTemplate.TOOLS.file().toString());
      case VLLM ->
          order.options(
              "--max-model-len",
              context,
              "--chat-template",
              ChatTemplate.TOOLS.file().toString(),
              "--enable-auto-tool-choice",
              "--tool-call-parser",
              "hermes");
      case MLX_LM -> order.options("--chat-template", ChatTemplate.TOOLS.text());
    };
  }
}
