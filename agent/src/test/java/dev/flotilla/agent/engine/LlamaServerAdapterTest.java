package dev.flotilla.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.agent.engine.EngineAdapter.Launch;
import dev.flotilla.agent.engine.EngineAdapter.LaunchCommand;
import dev.flotilla.agent.engine.EngineAdapter.ModelRefused;
import dev.flotilla.agent.policy.Policy.EngineRule;
import dev.flotilla.testkit.model.GgufWriter;
import dev.flotilla.wire.fleet.LlamaServerFlags;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LlamaServerAdapterTest {
  private static final String NEW_HELP =
      "usage\\n-m, --model FNAME\\n-ngl, --n-gpu-layers N\\n-fa, --flash-attn on|off|auto\\n--no-mmap\\n"
          + "--tags STRING\\n--cache-ram N\\n--no-webui\\n--log-colors on|off\\n--offline\\n"
          + "--reasoning on|off|auto\\n-t, --threads N\\n";
  private static final String OLD_HELP = "usage\\n-m, --model FNAME\\n-fa, --flash-attn\\n";

  @TempDir Path home;
  private Path program;

  @BeforeEach
  void aProgramThatSaysWhatItTakes() {
    program = home.resolve("llama-server");
  }

  @Test
  void thePromiseBecomesFlags() throws Exception {
    List<String> line = line(spec(Reasoning.INLINE, false, Map.of()), NEW_HELP);

    assertThat(String.join(" ", line))
        .startsWith(
            program
                + " -m /models/m.gguf --host 127.0.0.1 --port 4711 --alias small -c 16384 -np 4"
                + " --threads 3 --jinja --reasoning-format none --metrics --cache-ram 256 --tags run-9-")
        .endsWith("--no-webui --log-colors off --offline");
  }

  @Test
  void thePlaceOfTheReasoningIsTheEnginesOwnWord() throws Exception {
    assertThat(line(spec(Reasoning.REASONING_CONTENT, false, Map.of()), NEW_HELP))
        .containsSequence("--reasoning-format", "deepseek");
    assertThat(line(spec(Reasoning.REASONING, false, Map.of()), NEW_HELP))
        .containsSubsequence("--reasoning-format", "deepseek");
    assertThat(line(spec(Reasoning.OFF, false, Map.of()), NEW_HELP))
        .containsSequence("--reasoning", "off");
    assertThat(line(spec(Reasoning.OFF, false, Map.of()), OLD_HELP))
        .containsSequence("--reasoning-budget", "0");
  }

  @Test
  void theRecipesArgumentsFollowAsTheProgramSpellsThem() throws Exception {
    Map<String, String> args = new LinkedHashMap<>();
    args.put("n-gpu-layers", "99");
    args.put("fa", "on");
    args.put("no-mmap", "true");
    args.put("offline", "false");
    args.put("threads", "6");
    List<String> line = line(spec(Reasoning.INLINE, false, args), NEW_HELP);

    assertThat(String.join(" ", line))
        .endsWith("--offline --n-gpu-layers 99 -fa on --no-mmap --threads 6")
        .doesNotContain("--threads 3");
  }

  @Test
  void anOlderProgramGetsOnlyWhatItTakes() throws Exception {
    assertThat(line(spec(Reasoning.INLINE, false, Map.of()), OLD_HELP))
        .doesNotContain("--tags", "--cache-ram", "--offline", "--no-webui", "--log-colors");
    LlamaServerAdapter adapter = adapter(OLD_HELP);
    assertThatThrownBy(() ->
            adapter.prepare(
                spec(Reasoning.INLINE, false, Map.of("n-gpu-layers", "9")),
                ProgressListener.NOBODY))
        .isInstanceOf(EngineUnavailable.class)
        .hasMessage("args: n-gpu-layers is no option of " + program + " (version 4242 (abc)).");
  }

  @Test
  void anEmbeddingWorkerComputesAWholeTextAtOnce() throws Exception {
    assertThat(line(spec(Reasoning.INLINE, true, Map.of()), NEW_HELP))
        .containsSequence("--embeddings", "--pooling", "mean", "-b", "4096", "-ub", "4096")
        .doesNotContain("--jinja", "--reasoning-format");
  }

  /** A file that names its pooling is served as it was trained. */
  @Test
  void anEmbeddingWorkerPoolsAsItsFileSays() throws Exception {
    Path last =
        new GgufWriter()
            .text("general.architecture", "qwen3")
            .u32("qwen3.pooling_type", 3)
            .write(home.resolve("last.gguf"));
    WorkerSpec spec = spec(Reasoning.INLINE, true, Map.of());
    assertThat(command(spec, NEW_HELP, last).arguments())
        .containsSequence("--embeddings", "-b", "4096")
        .doesNotContain("--pooling");
  }

  @Test
  void theKeyIsInTheEnvironmentAndNotInTheCommandLine() throws Exception {
    LaunchCommand command = command(spec(Reasoning.INLINE, false, Map.of()), NEW_HELP);

    assertThat(command.environment()).containsEntry("LLAMA_API_KEY", "secret-of-this-launch");
    assertThat(command.environment())
        .containsEntry("XDG_CONFIG_HOME", home.resolve("launch/config").toString());
    assertThat(command.arguments()).noneMatch(word -> word.contains("secret-of-this-launch"));
    LlamaServerAdapter adapter = adapter(NEW_HELP);
    assertThat(adapter.inherits("LLAMA_ARG_CTX_SIZE")).isFalse();
    assertThat(adapter.inherits("HF_TOKEN")).isFalse();
    assertThat(adapter.inherits("PATH")).isTrue();
    assertThat(adapter.inherits("CUDA_VISIBLE_DEVICES")).isTrue();
  }

  @Test
  void anArgumentAgainstThePromiseIsRefusedNamingBoth() throws Exception {
    LlamaServerAdapter adapter = adapter(NEW_HELP);
    assertThat(adapter.contradiction(spec(Reasoning.INLINE, false, Map.of("ctx-size", "8192"))))
        .contains(
            "args: ctx-size 8192 contradicts promise.context, which sets it (4096 tokens a"
                + " request); leave it out of args.");
    assertThat(adapter.contradiction(spec(Reasoning.OFF, false, Map.of("reasoning-format", "x"))))
        .hasValueSatisfying(why -> assertThat(why).contains("promise.reasoning").contains("(off)"));
    for (String owned : LlamaServerFlags.OWNED.keySet()) {
      assertThat(adapter.contradiction(spec(Reasoning.INLINE, false, Map.of(owned, "1"))))
          .as(owned)
          .isPresent();
    }
    assertThat(adapter.contradiction(spec(Reasoning.INLINE, false, Map.of("threads", "1"))))
        .isEmpty();
  }

  @Test
  void aBadModelFileIsRefusedBeforeAnEngineStarts() throws Exception {
    LlamaServerAdapter adapter = adapter(NEW_HELP);
    WorkerSpec spec = spec(Reasoning.INLINE, false, Map.of());
    Path text = Files.writeString(home.resolve("text.gguf"), "<html>");
    assertThatThrownBy(() -> adapter.memoryNeed(spec, text))
        .isInstanceOf(ModelRefused.class)
        .hasMessageContaining("text.gguf: is not a GGUF file");
    assertThatThrownBy(() -> adapter.memoryNeed(spec, home.resolve("gone.gguf")))
        .isInstanceOf(ModelRefused.class)
        .hasMessageContaining("gone.gguf: the file can't be read or is gone");
  }

  @Test
  void anExitIsExplained() throws Exception {
    LlamaServerAdapter adapter = adapter(NEW_HELP);
    assertThat(
            adapter.explainExit(
                1, List.of("E srv start: couldn't bind HTTP server socket, hostname: h, port: 80")))
        .isEqualTo("Its port 80 is taken by another program (ended with exit code 1).");
    assertThat(adapter.explainExit(1, List.of("error: invalid argument: --nope")))
        .contains("does not take one of its options: error: invalid argument: --nope");
    assertThat(
            adapter.explainExit(
                1,
                List.of(
                    "E llama_model_load: error loading model: unknown model architecture: 'x9'",
                    "0.00.005.237 E srv init: exiting due to model loading error")))
        .contains("does not know the model's architecture 'x9'");
    assertThat(
            adapter.explainExit(
                1,
                List.of(
                    "0.00.001.000 E llama_model_load: error loading model: tensor 'a' is bad",
                    "0.00.005.237 E srv init: exiting due to model loading error")))
        .isEqualTo(
            "It could not load the model: llama_model_load: error loading model: tensor 'a' is bad"
                + " (ended with exit code 1).");
    assertThat(adapter.explainExit(1, List.of("ggml_aligned_malloc: unable to allocate 9 MiB")))
        .contains("ran out of memory");
    assertThat(adapter.explainExit(139, List.of("a\u001b[31mb")))
        .contains("SIGSEGV")
        .contains("a?[31mb");
  }

  @Test
  void aKillIsToldByItsSignalAndNotByWhateverTheEngineHadSaidBefore() throws Exception {
    LlamaServerAdapter adapter = adapter(NEW_HELP);
    for (List<String> lines :
        List.of(
            List.<String>of(),
            List.of("build: 6123 (0f0a3c2) with cc for x86_64-linux-gnu"),
            List.of("W llama_context: error loading model's cache, it is made anew"))) {
      assertThat(adapter.explainExit(137, lines))
          .isEqualTo(
              "It was killed by signal 9 (SIGKILL), by hand or by the system for want of memory.");
    }
    assertThat(adapter.explainExit(143, List.of("srv  update_slots: all slots are idle")))
        .isEqualTo("It was ended by signal 15 (SIGTERM), by hand or by another program.");
    assertThat(adapter.explainExit(137, List.of("ggml: failed to allocate 9 MiB", "bye")))
        .startsWith("It ran out of memory: ggml: failed to allocate 9 MiB (was killed by signal 9");
  }

  private List<String> line(WorkerSpec spec, String help) throws Exception {
    return command(spec, help).arguments();
  }

  private LaunchCommand command(WorkerSpec spec, String help) throws Exception {
    return command(spec, help, Path.of("/models/m.gguf"));
  }

  private LaunchCommand command(WorkerSpec spec, String help, Path model) throws Exception {
    LlamaServerAdapter adapter = adapter(help);
    adapter.prepare(spec, ProgressListener.NOBODY);
    return adapter.command(
        spec, model, 4711, 3, new Launch("secret-of-this-launch", home.resolve("launch"), 9));
  }

  private LlamaServerAdapter adapter(String help) throws IOException {
    Files.writeString(
        program,
        """
        #!/bin/sh
        [ "$1" = --version ] && echo 'version: 4242 (abc)' >&2 && exit 0
        printf '%s'
        """
            .formatted(help));
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    return new LlamaServerAdapter(
        new LlamaServerInstallation(
            home, new EngineRule(Optional.of(program), false), System.getenv("PATH")));
  }

  private static WorkerSpec spec(
      Reasoning reasoning, boolean embeddings, Map<String, String> args) {
    return new WorkerSpec(
        "node/small-1",
        "small",
        "llama-server",
        "m.gguf",
        4096,
        4,
        reasoning,
        false,
        embeddings,
        args);
  }
}
