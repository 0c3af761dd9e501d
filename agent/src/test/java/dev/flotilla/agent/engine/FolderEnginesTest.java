package dev.flotilla.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.agent.engine.EngineAdapter.Launch;
import dev.flotilla.agent.engine.EngineAdapter.LaunchCommand;
import dev.flotilla.agent.engine.EngineAdapter.Readiness;
import dev.flotilla.agent.policy.Policy.EngineRule;
import dev.flotilla.testkit.scripted.Script;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.fleet.WorkerSpec.Chat;
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

/** vllm and mlx-lm, as far as no engine has to run. */
class FolderEnginesTest {
  private static final EngineRule ABSENT = new EngineRule(Optional.empty(), false);

  @TempDir Path home;
  private Path model;

  @BeforeEach
  void aFolderWithAModel() throws IOException {
    model = ModelFolderTest.folder(home.resolve("model"));
  }

  // What becomes of promise and recipe.

  @Test
  void vllmIsToldThePromise() throws Exception {
    LaunchCommand command = command(vllm(), vllmSpec(Reasoning.INLINE, false, Chat.OWN, Map.of()));
    assertThat(String.join(" ", command.arguments()))
        .isEqualTo(
            home.resolve("vllm")
                + " serve "
                + model
                + " --served-model-name small --host 127.0.0.1 --port 4711 --max-model-len 1024"
                // (1024 + 2 × 256) × 2 slots × 30 layers × 3 heads × 64 × (K and V) × 2 bytes
                + " --max-num-seqs 2 --kv-cache-memory-bytes 70778880"
                + " --enable-prompt-tokens-details --disable-fastapi-docs --disable-access-log-for-endpoints"
                + " /health,/metrics,/v1/models");
    assertThat(command.environment())
        .containsEntry("VLLM_API_KEY", "the-key")
        .containsEntry("HF_HUB_OFFLINE", "1")
        .containsEntry("OMP_NUM_THREADS", "3");
  }

  @Test
  void vllmsParsersAndTemplateAreTheRecipes() throws Exception {
    Map<String, String> args = new LinkedHashMap<>();
    args.put("dtype", "float32");
    args.put("enforce-eager", "true");
    args.put("gpu-memory-utilization", "0.4");
    assertThat(
            String.join(
                " ",
                command(
                        vllm(),
                        vllmSpec(
                            Reasoning.REASONING_CONTENT,
                            true,
                            new Chat("hermes", "qwen3", "/t.jinja"),
                            args))
                    .arguments()))
        .contains(
            "--max-num-seqs 2 --enable-auto-tool-choice --tool-call-parser hermes"
                + " --reasoning-parser qwen3 --chat-template /t.jinja")
        .endsWith("--dtype float32 --enforce-eager --gpu-memory-utilization 0.4")
        .doesNotContain("kv-cache-memory-bytes");
    assertThat(command(vllm(), vllmSpec(Reasoning.OFF, false, Chat.OWN, Map.of())).arguments())
        .containsSequence("--default-chat-template-kwargs", "{\"enable_thinking\": false}");
  }

  @Test
  void mlxLmIsToldThePromise() throws Exception {
    Path template = Files.writeString(home.resolve("t.jinja"), "{{ messages }}");
    LaunchCommand command =
        command(
            mlxLm(),
            spec(
                "mlx-lm",
                Reasoning.OFF,
                false,
                new Chat("", "", template.toString()),
                Map.of("prefill-step-size", "512")));
    assertThat(String.join(" ", command.arguments()))
        .isEqualTo(
            home.resolve("mlx_lm.server")
                + " --model "
                + model
                + " --host 127.0.0.1 --port 4711 --decode-concurrency 2 --prompt-concurrency 2"
                + " --max-tokens 1024 --prompt-cache-bytes 268435456 --temp 1.0"
                + " --chat-template-args {\"enable_thinking\": false}"
                + " --chat-template {{ messages }} --prefill-step-size 512");
    assertThat(command.environment())
        .containsEntry("HF_HUB_CACHE", home.resolve("run/config").toString());
  }

  @Test
  void mlxLmIsStartedByItsOwnPythonWithARouteThatCounts() throws Exception {
    Path python = Files.createDirectories(home.resolve("venv/bin")).resolve("python3");
    program(python);
    Path script = home.resolve("venv/bin/mlx_lm.server");
    program(script);
    Files.writeString(script, "#!" + python + "\nfrom mlx_lm.server import main\n");
    MlxLmAdapter adapter =
        new MlxLmAdapter(
            PythonInstallation.mlxLm(home, ABSENT, home.resolve("venv/bin").toString(), true));

    LaunchCommand command =
        command(adapter, spec("mlx-lm", Reasoning.INLINE, false, Chat.OWN, Map.of()));

    Path launcher = home.resolve("engines/mlx_lm_launcher.py");
    assertThat(command.arguments()).startsWith(python.toString(), launcher.toString(), "--model");
    assertThat(launcher).content().contains("/tokenize");
    assertThat(adapter.found().orElseThrow().path()).isEqualTo(script.toString());
  }

  @Test
  void aContradictionNamesBothSides() throws Exception {
    assertThat(
            vllm()
                .contradiction(
                    vllmSpec(Reasoning.INLINE, false, Chat.OWN, Map.of("max_model_len", "9"))))
        .hasValue(
            "args: max_model_len 9 contradicts promise.context, which sets it (1024 tokens a request); leave it out of args.");
    assertThat(vllm().contradiction(vllmSpec(Reasoning.INLINE, true, Chat.OWN, Map.of())))
        .hasValueSatisfying(why ->
            assertThat(why).startsWith("tool-parser: promise.tools is true, and vllm finds"));
    assertThat(
            mlxLm()
                .contradiction(
                    spec("mlx-lm", Reasoning.INLINE, false, Chat.OWN, Map.of("kv-bits", "8"))))
        .hasValueSatisfying(why -> assertThat(why).contains("slots is 2; set slots: 1"));
  }

  @Test
  void anUnreadableTemplateIsSaidBeforeAStart() throws Exception {
    WorkerSpec spec =
        spec("mlx-lm", Reasoning.INLINE, false, new Chat("", "", "/gone.jinja"), Map.of());
    assertThatThrownBy(() -> mlxLm().prepare(spec, ProgressListener.NOBODY))
        .isInstanceOf(EngineUnavailable.class)
        .hasMessageStartingWith("The chat-template /gone.jinja can't be read");
  }

  // Where the programs are.

  @Test
  void aVersionIsReadFromItsEnvironment() throws Exception {
    Path bin = Files.createDirectories(home.resolve("venv/bin"));
    Files.createDirectories(
        home.resolve("venv/lib/python3.11/site-packages/vllm-0.32.0+cpu.dist-info"));
    program(bin.resolve("vllm"));
    Files.createSymbolicLink(home.resolve("vllm-link"), bin.resolve("vllm"));
    PythonInstallation named =
        PythonInstallation.vllm(new EngineRule(Optional.of(home.resolve("vllm-link")), false), "");
    assertThat(new VllmAdapter(named).found().orElseThrow().version()).isEqualTo("0.32.0+cpu");
    assertThat(
            new VllmAdapter(PythonInstallation.vllm(ABSENT, bin.toString()))
                .found()
                .orElseThrow()
                .path())
        .isEqualTo(bin.resolve("vllm").toString());
  }

  @Test
  void anEngineThatIsNotThereIsSaidWithTheWayToGetIt() {
    WorkerSpec spec = vllmSpec(Reasoning.INLINE, false, Chat.OWN, Map.of());
    unavailable(
        new VllmAdapter(PythonInstallation.vllm(new EngineRule(Optional.empty(), true), "")),
        spec,
        "No vllm is on the PATH: install vLLM (docs.vllm.ai says which build fits your machine)");
    unavailable(
        new MlxLmAdapter(PythonInstallation.mlxLm(home, ABSENT, "", true)),
        spec,
        "No mlx-lm is on the PATH, and the policy does not allow to install it:");
    unavailable(
        new MlxLmAdapter(
            PythonInstallation.mlxLm(home, new EngineRule(Optional.empty(), true), "", true)),
        spec,
        "mlx-lm needs Python 3.11 or newer to be installed, and none is on the PATH");
    unavailable(
        new VllmAdapter(
            PythonInstallation.vllm(new EngineRule(Optional.of(Path.of("/gone/vllm")), false), "")),
        spec,
        "The policy names the vllm /gone/vllm, which is no program that can be started");
  }

  // Whether it is ready.

  @Test
  void vllmIsReadyWithItsKeyItsNameAndItsContext() throws Exception {
    try (ScriptedEngine server = ScriptedEngine.start().model("small").apiKey("the-key")) {
      server.always("/version", Script.json(200, "{\"version\":\"0.32.0\"}"));
      server.always(
          "/v1/models", Script.json(200, "{\"data\":[{\"id\":\"small\",\"max_model_len\":1024}]}"));
      assertThat(probe(vllm(), server)).isEqualTo(new Readiness.Ready("0.32.0", 1024, 2));
      server.apiKey("another");
      stranger(server, "it does not know this launch's key");
      server.apiKey("");
      stranger(server, "it asks for no key");
      server.apiKey("the-key");
      server.always(
          "/v1/models", Script.json(200, "{\"data\":[{\"id\":\"large\",\"max_model_len\":1024}]}"));
      stranger(server, "it does not serve the name 'small'");
      server.always(
          "/v1/models", Script.json(200, "{\"data\":[{\"id\":\"small\",\"max_model_len\":512}]}"));
      assertThat(probe(vllm(), server))
          .isEqualTo(
              new Readiness.Wrong(
                  "The engine gives 512 tokens to a request, promise.context is 1,024."));
      server.always("/health", Script.json(503, "{}"));
      assertThat(probe(vllm(), server))
          .isEqualTo(new Readiness.Broken("vLLM says that its engine is dead."));
    }
  }

  private void stranger(ScriptedEngine server, String why) throws IOException {
    assertThat(probe(vllm(), server))
        .isEqualTo(
            new Readiness.Stranger(
                "Something else answers on port %d: %s.".formatted(server.port(), why)));
  }

  @Test
  void mlxLmIsReadyWhenItAnswersWithOneToken() throws Exception {
    try (ScriptedEngine server = ScriptedEngine.start()) {
      server.always("/health", Script.json(200, "{\"status\": \"ok\"}"));
      server.always("/v1/models", Script.json(200, "{\"data\": [{\"id\": \"" + model + "\"}]}"));
      server.always("/v1/completions", Script.json(404, "{\"error\": \"generation thread died\"}"));
      assertThat(probe(mlxLm(), server))
          .isEqualTo(new Readiness.Broken("mlx-lm could not load the model."));
      server.always(
          "/v1/completions",
          Script.json(200, "{\"system_fingerprint\": \"0.32.2-0.32.4-Linux-x\"}"));
      assertThat(probe(mlxLm(), server))
          .isEqualTo(new Readiness.Ready("0.32.2 (mlx 0.32.4)", 1024, 2));
      server.always("/v1/models", Script.json(200, "{\"data\": [{\"id\": \"/other\"}]}"));
      assertThat(probe(mlxLm(), server)).isInstanceOf(Readiness.Stranger.class);
      server.always("/health", Script.json(503, "{\"status\": \"unavailable\"}"));
      assertThat(
              mlxLm()
                  .pulse(
                      vllmSpec(Reasoning.INLINE, false, Chat.OWN, Map.of()),
                      model,
                      server.port(),
                      launch()))
          .isEqualTo(new Readiness.Broken("The thread of mlx-lm that generates has died."));
    }
  }

  // Why it ended: lines as vLLM 0.32 and mlx-lm 0.32 wrote them.

  @Test
  void vllmsLastWordsAreExplained() throws Exception {
    VllmAdapter vllm = vllm();
    explained(
        vllm,
        "RuntimeError: DeepSeekR1ReasoningParser reasoning parser could not locate think start/end tokens in the tokenizer!",
        "Its reasoning parser finds no token for thoughts in this model's tokenizer;");
    explained(
        vllm,
        "ValueError: To serve at least one request with the model's max seq len (4096), (0.18 GiB KV cache is needed, which is larger than the available KV cache memory (0.01 GiB). Based on the available memory, the estimated maximum model length is 256.",
        "Its cache has 0.01 GiB, and one request of promise.context takes 0.18 GiB;");
    explained(
        vllm,
        "  Value error, User-specified max_model_len (400000) is greater than the derived max_model_len (max_position_embeddings=8192.0 or model_max_length=None in model's config.json).",
        "The model was made for a shorter context than promise.context:");
    explained(
        vllm,
        "vllm: error: unrecognized arguments: --foo-bar 3",
        "It does not take one of its options: error: unrecognized arguments: --foo-bar 3");
    explained(
        vllm,
        "KeyError: 'invalid tool call parser: nope (chose from { apertus,xlam })'",
        "It knows no tool call parser 'nope';");
    explained(
        vllm,
        "  Value error, The checkpoint you are trying to load has model type `zork` but Transformers does not recognize this architecture.",
        "This vLLM does not know the model's type 'zork'; a newer one may");
    assertThat(
            vllm.explainExit(
                1,
                List.of(
                    "(EngineCore pid=14999) ERROR 11-30 02:38:26 [core.py:1510] ValueError: the root of it",
                    "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore': 1}")))
        .isEqualTo("It failed: ValueError: the root of it (ended with exit code 1).");
  }

  @Test
  void mlxLmsLastWordsAreExplained() throws Exception {
    explained(
        mlxLm(),
        "ValueError: Model type zork not supported.",
        "This mlx-lm does not know the model's type 'zork'; a newer one may");
    explained(
        mlxLm(), "OSError: [Errno 98] Address already in use", "Its port is taken by another");
    assertThat(
            mlxLm().explainExit(EngineAdapter.NO_EXIT, List.of("ValueError: Missing 3 parameters")))
        .isEqualTo(
            "It failed: ValueError: Missing 3 parameters (can't serve any more, though its process exists).");
  }

  private static void explained(EngineAdapter adapter, String line, String why) {
    assertThat(adapter.explainExit(1, List.of("first", line, "exit"))).startsWith(why);
  }

  private VllmAdapter vllm() throws IOException {
    program(home.resolve("vllm"));
    return new VllmAdapter(PythonInstallation.vllm(ABSENT, home.toString()));
  }

  private MlxLmAdapter mlxLm() throws IOException {
    program(home.resolve("mlx_lm.server"));
    return new MlxLmAdapter(PythonInstallation.mlxLm(home, ABSENT, home.toString(), true));
  }

  private static void program(Path file) throws IOException {
    Files.writeString(file, "#!/bin/sh\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private LaunchCommand command(EngineAdapter adapter, WorkerSpec spec) throws Exception {
    adapter.prepare(spec, ProgressListener.NOBODY);
    return adapter.command(spec, model, 4711, 3, launch());
  }

  private Launch launch() {
    return new Launch("the-key", home.resolve("run"), 9);
  }

  private Readiness probe(EngineAdapter adapter, ScriptedEngine server) {
    return adapter.probe(
        spec(adapter.engine(), Reasoning.INLINE, false, Chat.OWN, Map.of()),
        model,
        server.port(),
        launch());
  }

  private WorkerSpec vllmSpec(
      Reasoning reasoning, boolean tools, Chat chat, Map<String, String> args) {
    return spec("vllm", reasoning, tools, chat, args);
  }

  private WorkerSpec spec(
      String engine, Reasoning reasoning, boolean tools, Chat chat, Map<String, String> args) {
    return new WorkerSpec(
        "node/small-1",
        "small",
        engine,
        model.toString(),
        1024,
        2,
        reasoning,
        tools,
        false,
        chat,
        args);
  }

  private static void unavailable(EngineAdapter adapter, WorkerSpec spec, String why) {
    assertThatThrownBy(() -> adapter.prepare(spec, ProgressListener.NOBODY))
        .isInstanceOf(EngineUnavailable.class)
        .hasMessageStartingWith(why);
  }
}
