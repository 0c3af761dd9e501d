package dev.flotilla.hub.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.hub.fleet.Fleets;
import dev.flotilla.hub.fleet.ProofCandidate;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.WorkerSpec;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What one proof stands for, and what it does not. */
final class ProofKeyTest {
  private static final NodeFacts MACHINE = Fleets.machine(16);
  private final String before = key("/models/m.gguf", "b1", "0123abcd", Map.of(), MACHINE);

  private static String key(
      String source,
      String build,
      String fingerprint,
      Map<String, String> args,
      NodeFacts machine) {
    WorkerSpec spec =
        new WorkerSpec(
            "box/m-1",
            "m",
            "llama-server",
            source,
            4096,
            4,
            WorkerSpec.Reasoning.INLINE,
            true,
            false,
            args);
    Target target =
        new Target(
            "box/m-1",
            Target.Kind.WORKER,
            "m",
            "m",
            "llama-server",
            "box",
            1,
            4096,
            0,
            4,
            true,
            Target.Capability.TEXT,
            null,
            null,
            "127.0.0.1:1",
            "",
            (_, _) -> {
              throw new IOException("nobody calls it");
            });
    return ProofKey.of(
        new ProofCandidate(
            target, spec, build, fingerprint, Optional.of(machine), false, false, false));
  }

  @Test
  void anotherFileUnderTheSameNameIsProvedAnew() {
    assertThat(key("/models/m.gguf", "b1", "ffff", Map.of(), MACHINE)).isNotEqualTo(before);
  }

  @Test
  void theSameFileUnderAnotherNameIsNot() {
    assertThat(key("/elsewhere/m.gguf", "b1", "0123abcd", Map.of(), MACHINE)).isEqualTo(before);
  }

  @Test
  void anotherBuildOrOtherArgumentsOrAnotherMachineAre() {
    assertThat(key("/models/m.gguf", "b2", "0123abcd", Map.of(), MACHINE)).isNotEqualTo(before);
    assertThat(key("/models/m.gguf", "b1", "0123abcd", Map.of("threads", "1"), MACHINE))
        .isNotEqualTo(before);
    assertThat(
            key("/models/m.gguf", "b1", "0123abcd", Map.of(), Fleets.machine("macos", "arm64", 16)))
        .isNotEqualTo(before);
  }

  @Test
  void whatChangesByTheHourIsNoOtherMachine() {
    assertThat(key("/models/m.gguf", "b1", "0123abcd", Map.of(), Fleets.machine(2)))
        .isEqualTo(before);
  }

  @Test
  void whereTheAgentTellsNothingOfTheFileItsNameCounts() {
    String named = key("/models/m.gguf", "b1", "", Map.of(), MACHINE);
    assertThat(named).isEqualTo(key("/models/m.gguf", "b1", "", Map.of(), MACHINE));
    assertThat(named).isNotEqualTo(key("/models/other.gguf", "b1", "", Map.of(), MACHINE));
  }
}
