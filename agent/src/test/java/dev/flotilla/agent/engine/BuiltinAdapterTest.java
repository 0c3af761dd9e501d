package dev.flotilla.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.agent.engine.EngineAdapter.Launch;
import dev.flotilla.agent.engine.EngineAdapter.LaunchCommand;
import dev.flotilla.agent.engine.EngineAdapter.MemoryNeed;
import dev.flotilla.testkit.real.SmallModel;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class BuiltinAdapterTest {
  private static final BuiltinProgram PROGRAM =
      new BuiltinProgram(Path.of("/jdk/bin/java"), "/lib/cli.jar", Optional.empty(), "0.1.0");
  private static final Launch LAUNCH = new Launch("secret", Path.of("/run/1"), 1);

  private final BuiltinAdapter adapter = new BuiltinAdapter(Optional.of(PROGRAM));

  @Test
  void aPromiseBecomesACommandLineWithoutTheKey() throws Exception {
    WorkerSpec spec = spec(Map.of("kv-type", "q8_0"));
    adapter.prepare(spec, (_, _, _, _, _) -> {});
    LaunchCommand command = adapter.command(spec, SmallModel.gguf(), 4711, 2, LAUNCH);

    String line = String.join(" ", command.arguments());
    assertThat(line)
        .startsWith("/jdk/bin/java --add-modules=jdk.incubator.vector ")
        .contains("-cp /lib/cli.jar dev.flotilla.cli.Main serve ")
        .contains("--listen 127.0.0.1:4711 --name m --context 2048 --slots 4 --threads 2")
        .contains("--reasoning-format inline --kv-type q8_0")
        .containsPattern("-Xms(\\d+)m -Xmx\\1m")
        .doesNotContain("secret");
    assertThat(command.environment()).containsEntry("FLOTILLA_ENGINE_KEY", "secret");
  }

  @Test
  void anOptionThatItHasNotIsRefusedBeforeAStart() {
    assertThat(adapter.contradiction(spec(Map.of("flash-attn", "on"))))
        .hasValueSatisfying(why ->
            assertThat(why)
                .contains("flash-attn is no option of the built-in engine; these are: kv-type"));
    assertThat(adapter.contradiction(spec(Map.of("slots", "9"))))
        .hasValueSatisfying(why -> assertThat(why).contains("slots 9 contradicts slots"));
  }

  @Test
  void itsCacheIsCountedWholeAndHalfTheSizeWhereThatIsAsked() throws Exception {
    MemoryNeed whole = adapter.memoryNeed(spec(Map.of()), SmallModel.gguf());
    MemoryNeed small = adapter.memoryNeed(spec(Map.of("kv-type", "q8_0")), SmallModel.gguf());

    // 4 slots, 2048 tokens, 30 layers, 3 heads of 64 numbers, keys and values, 2 bytes.
    assertThat(whole.cacheBytes()).isEqualTo(4L * 2048 * 30 * 3 * 64 * 2 * 2);
    assertThat(small.cacheBytes()).isLessThan(whole.cacheBytes() * 6 / 10);
  }

  @Test
  void itsLastWordsAreWhatItSaid() {
    assertThat(
            adapter.explainExit(
                1, List.of("  budget 100 MiB", "flotilla: 100 MiB are too little: weights …")))
        .isEqualTo("It says: 100 MiB are too little: weights … (ended with exit code 1).");
    assertThat(
            adapter.explainExit(
                3, List.of("Terminating due to java.lang.OutOfMemoryError: Java heap space")))
        .contains("Its heap was too small");
  }

  @Test
  void withoutAnEngineOnTheClassPathThereIsNone() {
    assertThat(new BuiltinAdapter(Optional.empty()).found()).isEmpty();
  }

  private static WorkerSpec spec(Map<String, String> args) {
    return new WorkerSpec(
        "w/m-1", "m", "builtin", "m.gguf", 2048, 4, Reasoning.INLINE, false, false, args);
  }
}
