package dev.flotilla.hub.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.flotilla.hub.spec.FleetFile.Reading;
import dev.flotilla.hub.spec.FleetSpec.Backend;
import dev.flotilla.hub.spec.FleetSpec.Destination;
import dev.flotilla.hub.spec.FleetSpec.Limits;
import dev.flotilla.hub.spec.FleetSpec.Model;
import dev.flotilla.hub.spec.FleetSpec.Promise;
import dev.flotilla.hub.spec.FleetSpec.Recipe;
import dev.flotilla.hub.spec.FleetSpec.Route;
import dev.flotilla.hub.spec.FleetSpec.When;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class FleetFileTest {

  static final String WHOLE =
      """
      models:
        qwen3-4b:
          promise:                      # holds on every worker
            context: 16384
            reasoning: reasoning_content
            tools: true
          replicas: 2
          recipes:
            - engine: llama-server
              when: { os: [macos, linux], gpu: apple }
              source: hf:Qwen/Qwen3-4B-GGUF/Qwen3-4B-Q4_K_M.gguf
              slots: 8
              args: { n-gpu-layers: 99, flash-attn: "on", threads: 6 }
            - engine: llama-server
              source: /models/Qwen3-4B-Q4_K_M.gguf
        bge:
          promise: { context: 512 }
          recipes: [{ engine: llama-server, source: "pip:bge==1.0/bge/x.gguf", embeddings: true }]
      backends:
        fusion-strix:
          url: http://10.0.0.5:8080
          model: coder
          slots: 1
        fusion-m5:
          url: https://10.0.0.7/v1/
          model: mlx-community/Qwen3.6-27B-8bit
          key: env:M5_KEY
      routes:
        coder-fusion:
          match: { models: [coder-fusion, coder] }
          strategy: fastest
          to:
            - { backend: fusion-strix }
            - { model: qwen3-4b }
      limits:
        queue: { per-model: 100, wait: 2m }
        request-body: 8 MiB
      """;

  @Test
  void aWholeFileIsRead() {
    Recipe mac =
        new Recipe(
            "llama-server",
            new When(List.of("macos", "linux"), List.of(), List.of("apple"), List.of()),
            "hf:Qwen/Qwen3-4B-GGUF/Qwen3-4B-Q4_K_M.gguf",
            8,
            false,
            Map.of("n-gpu-layers", "99", "flash-attn", "on", "threads", "6"));
    Recipe anywhere =
        new Recipe(
            "llama-server", When.ANYWHERE, "/models/Qwen3-4B-Q4_K_M.gguf", 4, false, Map.of());
    Recipe bge =
        new Recipe("llama-server", When.ANYWHERE, "pip:bge==1.0/bge/x.gguf", 4, true, Map.of());
    assertThat(FleetFile.read(WHOLE, "fleet.yaml"))
        .isEqualTo(
            new Reading.Good(
                new FleetSpec(
                    List.of(
                        new Model(
                            "qwen3-4b",
                            new Promise(16384, Reasoning.REASONING_CONTENT, true),
                            2,
                            List.of(mac, anywhere)),
                        new Model(
                            "bge", new Promise(512, Reasoning.INLINE, false), 1, List.of(bge))),
                    List.of(
                        new Backend(
                            "fusion-strix",
                            URI.create("http://10.0.0.5:8080/v1"),
                            "coder",
                            1,
                            Optional.empty()),
                        new Backend(
                            "fusion-m5",
                            URI.create("https://10.0.0.7/v1"),
                            "mlx-community/Qwen3.6-27B-8bit",
                            4,
                            Optional.of("M5_KEY"))),
                    List.of(
                        new Route(
                            "coder-fusion",
                            List.of("coder-fusion", "coder"),
                            List.of(
                                new Destination.ToBackend("fusion-strix"),
                                new Destination.ToModel("qwen3-4b")))),
                    new Limits(
                        100, Duration.ofMinutes(2), 8L << 20, 256, Duration.ofSeconds(15)))));
  }

  @Test
  void aFleetThatServesNothingIsSaidOnPurpose() {
    assertThat(FleetFile.read("models: {}", "f"))
        .isEqualTo(
            new Reading.Good(new FleetSpec(List.of(), List.of(), List.of(), Limits.DEFAULT)));
  }

  /** A model with one line changed or added; the lines count from 1. */
  private static String model(String promise, String replicas, String recipe) {
    return "models:\n  m:\n    promise: "
        + promise
        + "\n    replicas: "
        + replicas
        + "\n    recipes:\n      - "
        + recipe;
  }

  private static String recipe(String recipe) {
    return model("{ context: 4096 }", "1", recipe);
  }

  private static final String GOOD = "{ engine: llama-server, source: /m.gguf }";

  private static String backend(String fields) {
    return "backends:\n  b: { " + fields + " }";
  }

  private static String route(String fields) {
    return "backends:\n  b: { url: http://h/v1, model: x }\nroutes:\n  r: { " + fields + " }";
  }

  static Stream<Arguments> badFiles() {
    return Stream.of(
        // The file as a whole.
        arguments("", "line 1: the file is empty; a fleet that serves nothing is `models: {}`"),
        arguments("- a", "line 1: a map is needed here, not a list"),
        arguments("hello", "line 1: a map is needed here, not `hello`"),
        arguments("models:\n\tm: 1", "line 2: this is not YAML: a tab stands where spaces must"),
        arguments(
            "models: {",
            "line 1: this is not YAML: expected the node content, but found '<stream end>' (while parsing a flow node)"),
        arguments(
            "a: &x 1\nb: *x",
            "line 1: an anchor (`&…`) is not read here: write the values out where they are used"),
        arguments(
            "%YAML 3.0\n---\nmodels: {}",
            "line 1: the file asks for another version of YAML; 1.2 is read here"),
        arguments(
            "a: 1\nb: \"\\UFFFFFFFF\"",
            "line 2: this is not YAML: an escape (`\\U…`) names no character"),
        arguments(
            recipe("{ engine: llama-server, source: \"/\\ud800\" }"),
            "line 6: models.m.recipes[0].source: it holds a control character, half a character or more than one line"),
        arguments(
            "models: !!map {}", "line 1: a tag (`!…`) is not read here: write the plain value"),
        arguments(
            "models: {}\n---\nmodels: {}",
            "line 2: a second document begins here; a fleet file holds one"),
        arguments("[".repeat(100), "line 1: lists and maps are nested more than 32 deep"),
        arguments("models: {}\n# \u0000", "line 2: the character U+0000 may not stand in YAML"),
        arguments(
            "#" + " ".repeat(1 << 20), "line 1: the file is larger than 1 MiB, which is the limit"),
        arguments("models: {}\nmodels: {}", "line 2: `models` is here twice, first on line 1"),
        arguments("modles: {}", "line 1: unknown key `modles`; did you mean `models`?"),
        arguments(
            "fleet: {}",
            "line 1: unknown key `fleet`; known here: `models`, `backends`, `routes`, `limits`"),
        arguments("nodes: {}", "line 1: nodes: `nodes` is not supported yet; leave it out"),
        arguments("? [a]\n: b", "line 1: a key is a word, not a list or map"),
        arguments("models:", "line 1: models: a map is needed here, not nothing"),
        // Models.
        arguments(
            "models:\n  m: {}",
            "line 2: models.m: `promise` is missing, such as `promise: { context: 4096 }`\nline 2: models.m: `recipes` is missing, such as `recipes: [{ engine: llama-server, source: REFERENCE }]`"),
        arguments(
            model("{ context: 4096 }", "auto", GOOD),
            "line 4: models.m.replicas: `auto` is not supported yet; give a number"),
        arguments(
            model("{ context: 4096 }", "65", GOOD),
            "line 4: models.m.replicas: 65 is out of range: 1 to 64"),
        arguments(
            model("{ context: 4096 }", "-1", GOOD),
            "line 4: models.m.replicas: a whole number from 1 to 64 is needed here, not `-1`"),
        arguments(
            model("{ context: 4096 }", "\"2\"", GOOD),
            "line 4: models.m.replicas: a whole number from 1 to 64 is needed here, not `2`"),
        arguments(
            model("{ context: 16k }", "1", GOOD),
            "line 3: models.m.promise.context: a whole number from 64 to 16777216 is needed here, not `16k`"),
        arguments(
            model("{ contxt: 4096 }", "1", GOOD),
            "line 3: models.m.promise: `context` is missing, such as `context: 16384`\nline 3: models.m.promise: unknown key `contxt`; did you mean `context`?"),
        arguments(
            model("{ context: 4096, reasoning: think }", "1", GOOD),
            "line 3: models.m.promise.reasoning: `think` is not one of `inline`, `reasoning_content`, `reasoning`, `off`"),
        arguments(
            model("{ context: 4096, reasoning: inlin }", "1", GOOD),
            "line 3: models.m.promise.reasoning: `inlin` is not one of `inline`, `reasoning_content`, `reasoning`, `off`; did you mean `inline`?"),
        arguments(
            model("{ context: 4096, tools: yes }", "1", GOOD),
            "line 3: models.m.promise.tools: `true` or `false` is needed here, not `yes`"),
        arguments(
            model("{ context: 4096, sampling: { temperature: 2.1 } }", "1", GOOD),
            "line 3: models.m.promise.sampling.temperature: 2.1 is out of range: 0.0 to 2.0"),
        arguments(
            model("{ context: 4096, sampling: { top-k: 40.5 } }", "1", GOOD),
            "line 3: models.m.promise.sampling.top-k: a whole number from 0 to 1000 is needed here, not `40.5`"),
        arguments(
            model("{ context: 4096, min-decode: 20 }", "1", GOOD),
            "line 3: models.m.promise.min-decode: a speed is needed here, such as `20 tok/s`, not `20`"),
        arguments(
            model("{ context: 4096, min-decode: 0 tok/s }", "1", GOOD),
            "line 3: models.m.promise.min-decode: `0 tok/s` is out of range: more than 0, at most 100000 tok/s"),
        arguments(
            "models:\n  ../m: { promise: { context: 64 }, recipes: [" + GOOD + "] }",
            "line 2: models.`../m`: a model's name begins with a letter or digit and holds letters, digits and . _ - : / @ only; \"../m\" has another character at position 1"),
        // Recipes.
        arguments(
            recipe("{ engine: omlx, source: /m }"),
            "line 6: models.m.recipes[0].engine: `omlx` is not supported yet; choose `builtin`, `llama-server`, `vllm`, `mlx-lm`"),
        arguments(
            recipe("{ engine: lama-server, source: /m }"),
            "line 6: models.m.recipes[0].engine: `lama-server` is not one of `builtin`, `llama-server`, `vllm`, `mlx-lm`; did you mean `llama-server`?"),
        arguments(
            recipe("{ engine: llama-server }"),
            "line 6: models.m.recipes[0]: `source` is missing, such as `source: hf:OWNER/REPO/FILE`"),
        arguments(
            recipe("{ engine: llama-server, source: m.gguf }"),
            "line 6: models.m.recipes[0].source: `m.gguf` is none: a source is `/path/on/the/node`, `hf:OWNER/REPO/FILE`, `https://HOST/FILE` or `pip:NAME==VERSION/FILE`"),
        arguments(
            recipe("{ engine: llama-server, source: /a/../m }"),
            "line 6: models.m.recipes[0].source: a path holds no `..`: `/a/../m`"),
        arguments(
            recipe("{ engine: llama-server, source: 'hf:a/b' }"),
            "line 6: models.m.recipes[0].source: `a/b` is not of the form `hf:OWNER/REPO/FILE`"),
        arguments(
            recipe("{ engine: vllm, source: 'hf:a/b/m.gguf' }"),
            "line 6: models.m.recipes[0].source: `hf:a/b/m.gguf` is none: this engine reads a folder, `/folder/on/the/node` or `hf:OWNER/REPO`"),
        arguments(
            recipe("{ engine: mlx-lm, source: 'hf:a/.b' }"),
            "line 6: models.m.recipes[0].source: `a/.b` is not of the form `hf:OWNER/REPO`"),
        arguments(
            recipe("{ engine: llama-server, source: 'pip:a/b' }"),
            "line 6: models.m.recipes[0].source: `pip:a/b` must pin one version: `pip:NAME==VERSION/FILE`"),
        arguments(
            recipe("{ engine: llama-server, source: 'https:m' }"),
            "line 6: models.m.recipes[0].source: `https:m` is not an address of the form `https://HOST/FILE`"),
        arguments(
            recipe("{ engine: llama-server, source: /m, slots: automatic }"),
            "line 6: models.m.recipes[0].slots: a whole number from 1 to 256, or `auto`, is needed here, not `automatic`"),
        arguments(
            recipe("{ engine: llama-server, source: /m, tool-parser: hermes }"),
            "line 6: models.m.recipes[0].tool-parser: it is for vllm, and llama-server knows the form by the template; leave it out"),
        arguments(
            model("{ context: 64, tools: true }", "1", "{ engine: vllm, source: /m }"),
            "line 6: models.m.recipes[0]: promise.tools is true, and vllm finds tool calls only with the parser for this kind of model: add it, such as `tool-parser: hermes`"),
        arguments(
            recipe("{ engine: vllm, source: /m, tool-parser: hermes }"),
            "line 6: models.m.recipes[0].tool-parser: a parser of tool calls contradicts promise.tools, which is false; leave it out or promise tools"),
        arguments(
            recipe("{ engine: vllm, source: /m, reasoning-parser: qwen3 }"),
            "line 6: models.m.recipes[0].reasoning-parser: it takes the reasoning out of the content, where promise.reasoning (inline) says it is; leave it out or promise another place"),
        arguments(
            recipe("{ engine: vllm, source: /m, reasoning-parser: a b }"),
            "line 6: models.m.recipes[0].reasoning-parser: the name of a parser such as `hermes` is needed, not `a b`; vllm's are in `vllm serve --help=tool-call-parser`"),
        arguments(
            recipe("{ engine: vllm, source: /m, chat-template: t.jinja }"),
            "line 6: models.m.recipes[0].chat-template: a file on the node is needed, from the root and without `..`, not `t.jinja`"),
        arguments(
            recipe("{ engine: vllm, source: /m, args: { max_model_len: 9 } }"),
            "line 6: models.m.recipes[0].args.max_model_len: `max_model_len` belongs to promise.context, which sets it for vllm; leave it out here"),
        arguments(
            recipe("{ engine: vllm, source: /m, args: { tool-call-parser: x } }"),
            "line 6: models.m.recipes[0].args.tool-call-parser: write it as the recipe's own key: `tool-parser`"),
        arguments(
            recipe("{ engine: mlx-lm, source: /m, args: { kv-bits: 8 } }"),
            "line 6: models.m.recipes[0].args: with kv-bits mlx-lm answers one request after the other, and slots is 4; set slots: 1"),
        arguments(
            recipe("{ engine: mlx-lm, source: /m, args: { decode: 8 } }"),
            "line 6: models.m.recipes[0].args.decode: `decode` belongs to slots, which sets it for mlx-lm; leave it out here"),
        arguments(
            recipe("{ engine: mlx-lm, source: /m, embeddings: true }"),
            "line 6: models.m.recipes[0].embeddings: embeddings are served by llama-server and builtin only; use one of them, or leave this out"),
        arguments(
            recipe("{ engine: llama-server, source: /m, when: { os: mac } }"),
            "line 6: models.m.recipes[0].when.os: `mac` is not one of `linux`, `macos`, `windows`"),
        arguments(
            recipe("{ engine: llama-server, source: /m, when: { gpu: [amd, amd] } }"),
            "line 6: models.m.recipes[0].when.gpu[1]: `amd` is here twice"),
        arguments(
            recipe("{ engine: llama-server, source: /m, when: {} }"),
            "line 6: models.m.recipes[0].when: `when` says nothing; leave it out where the recipe holds everywhere"),
        arguments(
            recipe("{ engine: llama-server, source: /m, args: { ctx-size: 9 } }"),
            "line 6: models.m.recipes[0].args.ctx-size: `ctx-size` belongs to promise.context, which sets it for llama-server; leave it out here"),
        arguments(
            recipe("{ engine: llama-server, source: /m, args: { --threads: 6 } }"),
            "line 6: models.m.recipes[0].args.--threads: write the name without dashes: `threads`"),
        arguments(
            recipe("{ engine: llama-server, source: /m, args: { threads: } }"),
            "line 6: models.m.recipes[0].args.threads: text is needed here, not nothing"),
        arguments(
            recipe(GOOD + "\n      - " + GOOD),
            "line 7: models.m.recipes[1]: this recipe is never used: recipes[0] before it has no `when`, so it holds on every node"),
        arguments(
            recipe(
                "{ engine: llama-server, source: /m, when: { os: linux }, embeddings: true }\n      - "
                    + GOOD),
            "line 7: models.m.recipes[1]: `embeddings` must be the same in all recipes of a model"),
        // Backends.
        arguments(
            backend("url: ftp://h/v1, model: x"),
            "line 2: backends.b.url: an address begins with `http://` or `https://`, unlike `ftp://h/v1`"),
        arguments(
            backend("url: http://h/api, model: x"),
            "line 2: backends.b.url: the address must end in `/v1`, as in `http://10.0.0.5:8080/v1`"),
        arguments(
            backend("url: 'http://u:p@h/v1', model: x"),
            "line 2: backends.b.url: an address holds no user or password; use `key: env:NAME`"),
        arguments(
            backend("url: 'http://h:99999/v1', model: x"),
            "line 2: backends.b.url: `http://h:99999/v1` names no host, or a port that is none"),
        arguments(
            backend("url: http://h/v1"),
            "line 2: backends.b: `model` is missing, such as `model: coder`"),
        arguments(
            backend("url: http://h/v1, model: x, key: sk-secret"),
            "line 2: backends.b.key: write `env:NAME`, the environment variable of the hub that holds the key; the key itself does not belong into this file"),
        // Routes.
        arguments(
            route("match: { models: r }, to: [{ backend: c }]"),
            "line 4: routes.r.to[0].backend: there is no backend `c` in this file; did you mean `b`?"),
        arguments(
            route("match: { models: r }, to: [{ backend: b, weight: 5 }]"),
            "line 4: routes.r.to[0].weight: `weight` is not supported yet; leave it out"),
        arguments(
            route("match: { models: r }, to: [{ backend: b, model: m }]"),
            "line 4: routes.r.to[0]: a destination is either `backend: NAME` or `model: NAME`"),
        arguments(
            route("match: { models: r }, to: [{ backend: b }, { backend: b }]"),
            "line 4: routes.r.to[1].backend: `b` is here twice"),
        arguments(route("match: { models: r }, to: []"), "line 4: routes.r.to: the list is empty"),
        arguments(
            route("match: { models: r }, strategy: weighted, to: [{ backend: b }]"),
            "line 4: routes.r.strategy: `weighted` is not supported yet; choose `fastest`"),
        arguments(
            route("match: { models: r, headers: {} }, to: [{ backend: b }]"),
            "line 4: routes.r.match.headers: `headers` is not supported yet; leave it out"),
        arguments(
            route(
                "match: { models: r }, to: [{ backend: b }] }\n  s: { match: { models: r }, to: [{ backend: b }]"),
            "line 5: routes.s.match.models: `r` is a name of route `r` already"),
        arguments(
            recipe(GOOD) + "\nroutes:\n  r: { match: { models: m }, to: [{ model: m }] }",
            "line 8: routes.r.match.models: `m` is a model already; give the route another name and send it `to: [{ model: m }]`"),
        arguments(
            recipe(GOOD) + "\nroutes:\n  m: { match: { models: n }, to: [{ model: m }] }",
            "line 8: routes.m: a model has this name already; give the route another"),
        // Limits.
        arguments(
            "limits: { queue: { per-model: 0 } }",
            "line 1: limits.queue.per-model: 0 is out of range: 1 to 100000"),
        arguments(
            "limits: { queue: { wait: 120 } }",
            "line 1: limits.queue.wait: a number with a unit is needed here, such as `120s`, not `120`"),
        arguments(
            "limits: { queue: { wait: 2h } }",
            "line 1: limits.queue.wait: `2h` is out of range: 1ms to 1h"),
        arguments(
            "limits: { request-body: 999999999999 GiB }",
            "line 1: limits.request-body: `999999999999 GiB` is out of range: 1 KiB to 64 MiB"),
        arguments(
            "limits: { request-body: 32 MB }",
            "line 1: limits.request-body: a number with a unit is needed here, such as `32 MiB`, not `32 MB`"));
  }

  @ParameterizedTest
  @MethodSource("badFiles")
  void aBadFileIsRefusedWithItsLines(String yaml, String expected) {
    Reading reading = FleetFile.read(yaml, "fleet.yaml");
    assertThat(reading).isInstanceOf(Reading.Bad.class);
    assertThat(
            String.join(
                "\n", ((Reading.Bad) reading).problems().stream().map(Problem::toString).toList()))
        .isEqualTo(expected);
  }

  @Test
  void allProblemsAreToldAtOnceByLineWithTheFilesName() {
    String yaml =
        """
        routes:
          r: { match: { models: r }, to: [{ model: gone }] }
        models:
          m: { promise: { context: 1 }, replicas: auto, recipes: [] }
        """;
    Reading.Bad bad = (Reading.Bad) FleetFile.read(yaml, "my.yaml");
    assertThat(bad.text())
        .isEqualTo(
            """
            my.yaml line 2: routes.r.to[0].model: there is no model `gone` in this file
            my.yaml line 4: models.m.promise.context: 1 is out of range: 64 to 16777216
            my.yaml line 4: models.m.replicas: `auto` is not supported yet; give a number
            my.yaml line 4: models.m.recipes: the list is empty\
            """);
  }

  @Test
  void aHundredProblemsAreEnough() {
    StringBuilder yaml = new StringBuilder("models:\n");
    for (int i = 0; i < 300; i++) {
      yaml.append("  m").append(i).append(": 1\n");
    }
    Reading.Bad bad = (Reading.Bad) FleetFile.read(yaml.toString(), "f");
    assertThat(bad.problems()).hasSize(101);
    assertThat(bad.problems().getLast().message()).isEqualTo("and 200 more problems");
  }
}
