package dev.flotilla.hub.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.testkit.real.RealEngine;
import dev.flotilla.testkit.real.RealServer;
import dev.flotilla.testkit.real.Tape;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Through the hub the real llama-server, vLLM and mlx-lm have one shape, and {@code
 * docs/sameness.md} is what was seen here. With {@code -Dflotilla.tapes=FOLDER} it writes that page
 * instead, and the recordings that the ordinary build plays.
 */
@Tag(RealEngine.TAG)
class SamenessEnginesTest {

  @Test
  void throughTheHubEveryCellIsTheSameOrNotEligible() throws IOException {
    Sameness sameness = new Sameness();
    String tapes = System.getProperty("flotilla.tapes", "");
    try (BuiltinServer server = BuiltinServer.start()) {
      sameness.ask(Sameness.BUILTIN, server.engine());
    }
    try (BuiltinServer server = BuiltinServer.thinking()) {
      sameness.askForThoughts(Sameness.BUILTIN, server.engine());
    }
    for (RealEngine engine : RealEngine.values()) {
      Tape tape = Tape.empty();
      try (RealServer server = Sameness.order(engine).start();
          ScriptedEngine recording = tape.recording(server)) {
        sameness.ask(engine.word(), recording);
      }
      try (RealServer server = Sameness.thinkingOrder(engine).start();
          ScriptedEngine recording = tape.recording(server)) {
        sameness.askForThoughts(engine.word(), recording);
      }
      if (!tapes.isEmpty() && engine != RealEngine.LLAMA_SERVER) {
        tape.save(Path.of(tapes), engine.word());
      }
    }
    if (!tapes.isEmpty()) {
      Files.writeString(SamenessTest.PAGE, sameness.page());
    }

    assertThat(SamenessTest.different(sameness)).isEmpty();
    SamenessTest.NOT_ELIGIBLE.forEach((engine, probes) ->
        assertThat(sameness.notEligible(engine)).as(engine).containsOnlyKeys(probes));
    assertThat(SamenessTest.PAGE).hasContent(sameness.page());
  }
}
