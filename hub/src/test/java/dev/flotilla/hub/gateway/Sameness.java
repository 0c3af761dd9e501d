package dev.flotilla.hub.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.hub.gateway.TestHub.Setup;
import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.dialect.Feature;
import dev.flotilla.shape.dialect.Honour;
import dev.flotilla.shape.dialect.Promise;
import dev.flotilla.shape.probe.Comparison;
import dev.flotilla.shape.probe.Difference;
import dev.flotilla.shape.probe.Probe;
import dev.flotilla.shape.probe.ProbeLimits;
import dev.flotilla.shape.probe.ProbeResult;
import dev.flotilla.shape.probe.ProbeResult.Replied;
import dev.flotilla.shape.probe.ProbeRun;
import dev.flotilla.shape.probe.ProbeTarget;
import dev.flotilla.shape.probe.Probes;
import dev.flotilla.shape.probe.UrlCaller;
import dev.flotilla.shape.probe.Verdict;
import dev.flotilla.shape.probe.Verdict.Broken;
import dev.flotilla.shape.probe.Verdict.Unanswered;
import dev.flotilla.testkit.real.ChatTemplate;
import dev.flotilla.testkit.real.RealEngine;
import dev.flotilla.testkit.real.RealServer;
import dev.flotilla.testkit.real.SmallModel;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The probes at four engines, asked themselves and through a hub that promises one shape. The model
 * has a chat template that knows tools and does not think; what is asked of thoughts is asked of
 * the same engines with a template that opens a thought.
 */
final class Sameness {
  /** Long enough for each probe's prompt and answer. */
  static final int CONTEXT = 512;

  static final String BUILTIN = "builtin";
  static final String LLAMA_SERVER = "llama-server";

  /** All of them, as the page has them. */
  static final List<String> ENGINES = List.of(BUILTIN, LLAMA_SERVER, "vllm", "mlx-lm");

  static final Promise PROMISE = new Promise(Reasoning.REASONING_CONTENT, true);

  /** The name that the hub knows the engines' model by. */
  static final String OWN_NAME = "own-name";

  private static final ProbeLimits LIMITS =
      ProbeLimits.DEFAULTS.withCall(Duration.ofMinutes(3)).withRun(Duration.ofMinutes(12));
  private static final String NOT_ELIGIBLE = "\"model_not_capable\"";

  private static final Pattern COUNT = Pattern.compile("\"(?:prompt|completion)_tokens\": ?\\d+");

  private final Map<String, List<ProbeResult>> raw = new HashMap<>();
  private final Map<String, List<ProbeResult>> hub = new HashMap<>();

  /** How each is started for all but thoughts. */
  static RealServer.Order order(RealEngine engine) {
    RealServer.Order order = order(engine, ChatTemplate.TOOLS);
    return engine == RealEngine.VLLM
        ? order.options("--enable-auto-tool-choice", "--tool-call-parser", "hermes")
        : order;
  }

  /**
   * How each is started for thoughts. vLLM and mlx-lm find them by tokens that the vocabulary of
   * one of the model's folders has.
   */
  static RealServer.Order thinkingOrder(RealEngine engine) {
    if (engine == RealEngine.LLAMA_SERVER) {
      return order(engine, ChatTemplate.THINK).options("--reasoning-format", "deepseek");
    }
    RealServer.Order order =
        order(engine, ChatTemplate.THINK_ALOUD).model(SmallModel.thinkingFolder());
    return engine == RealEngine.VLLM ? order.options("--reasoning-parser", "qwen3") : order;
  }

  private static RealServer.Order order(RealEngine engine, ChatTemplate template) {
    RealServer.Order order = RealServer.of(engine).name(OWN_NAME);
    return switch (engine) {
      case LLAMA_SERVER ->
          order.options(
              "-c",
              Integer.toString(2 * CONTEXT),
              "-t",
              "1",
              "--jinja",
              "--chat-template-file",
              template.file().toString());
      case VLLM ->
          order.options(
              "--max-model-len",
              Integer.toString(CONTEXT),
              "--chat-template",
              template.file().toString(),
              "--enable-prompt-tokens-details");
      case MLX_LM -> order.options("--chat-template", template.text());
    };
  }

  /** Asks one engine everything but thoughts. */
  void ask(String engine, ScriptedEngine server) {
    ask(engine, server, probe -> !asksForThoughts(probe));
  }

  /** Asks one engine for thoughts, whose model has a template that opens them. */
  void askForThoughts(String engine, ScriptedEngine server) {
    ask(engine, server, Sameness::asksForThoughts);
  }

  private static boolean asksForThoughts(Probe probe) {
    return probe.name().startsWith("reasoning");
  }

  private void ask(String engine, ScriptedEngine server, Predicate<Probe> which) {
    List<Probe> probes = Probes.all().stream().filter(which).toList();
    String model = engine.equals("mlx-lm") ? "default_model" : OWN_NAME;
    results(raw, engine).addAll(ask(server.url(), model, probes));
    Setup setup = new Setup();
    setup.engine = engine;
    setup.contextTokens = CONTEXT;
    setup.promise = PROMISE;
    try (TestHub over = TestHub.over(setup, server)) {
      results(hub, engine).addAll(ask("http://127.0.0.1:" + over.port(), TestHub.MODEL, probes));
    }
  }

  private static List<ProbeResult> results(Map<String, List<ProbeResult>> all, String engine) {
    return all.computeIfAbsent(engine, _ -> new ArrayList<>());
  }

  private static List<ProbeResult> ask(String address, String model, List<Probe> probes) {
    try (UrlCaller caller =
        new UrlCaller(URI.create(address), Optional.empty(), Optional.empty())) {
      return new ProbeRun(LIMITS, System::nanoTime)
          .run(caller, new ProbeTarget(model, CONTEXT), probes);
    }
  }

  List<ProbeResult> raw(String engine) {
    return raw.getOrDefault(engine, List.of());
  }

  List<ProbeResult> throughHub(String engine) {
    return hub.getOrDefault(engine, List.of());
  }

  /** {@code same}, {@code not eligible}, or what is different. */
  String cell(String engine, ProbeResult result) {
    if (notEligible(result)) {
      return "not eligible";
    }
    Optional<Difference> broken = firstBroken(result);
    if (broken.isPresent()) {
      return "different: " + broken.get();
    }
    ProbeResult reference =
        throughHub(LLAMA_SERVER).stream()
            .filter(each -> each.probe().equals(result.probe()))
            .findFirst()
            .orElse(result);
    if (!engine.equals(LLAMA_SERVER)
        && result.outcome() instanceof Replied replied
        && reference.outcome() instanceof Replied held) {
      List<Difference> differences =
          Comparison.differences(result.probe(), held.shape(), replied.shape());
      if (!differences.isEmpty()) {
        return "different: " + differences.getFirst();
      }
    }
    return "same";
  }

  /** Whether the hub said that no worker can do what was asked. */
  static boolean notEligible(ProbeResult result) {
    return result.outcome() instanceof Replied replied
        && replied.shape().seen("status").equals("400")
        && replied.shape().seen("error.code").equals(NOT_ELIGIBLE);
  }

  /** Where a probe's reply has its thought. */
  String thought(List<ProbeResult> results, String probe) {
    return results.stream()
        .filter(result -> result.probe().name().equals(probe))
        .map(ProbeResult::outcome)
        .map(outcome ->
            outcome instanceof Replied replied ? replied.shape().seen("reasoning") : "no reply")
        .findFirst()
        .orElse("not asked");
  }

  /** The tokens of a probe's prompt and answer, as its reply through the hub has them. */
  Set<String> cost(String engine, String probe) {
    return throughHub(engine).stream()
        .filter(result -> result.probe().name().equals(probe))
        .map(result -> result.outcome() instanceof Replied replied ? replied.reply().body() : null)
        .filter(Objects::nonNull)
        .flatMap(body -> COUNT.matcher(new String(body, UTF_8)).results())
        .map(MatchResult::group)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Where a result is not as promised. */
  static Optional<Difference> firstBroken(ProbeResult result) {
    return switch (Verdict.of(PROMISE, result)) {
      case Broken broken -> Optional.of(broken.first());
      case Unanswered silent -> Optional.of(new Difference("reply", "one", silent.why()));
      default -> Optional.empty();
    };
  }

  /** The probes of an engine that the hub refused for it, with what the engine lacks. */
  Map<String, String> notEligible(String engine) {
    return throughHub(engine).stream()
        .filter(Sameness::notEligible)
        .collect(
            Collectors.toMap(
                result -> result.probe().name(),
                result -> lacking(engine, result.probe()),
                (first, _) -> first,
                TreeMap::new));
  }

  private static String lacking(String engine, Probe probe) {
    Dialect dialect = Dialect.of(engine);
    return probe.features().stream()
        .filter(feature -> dialect.honours(feature) == Honour.NOT)
        .map(Feature::words)
        .sorted()
        .collect(Collectors.joining(", "));
  }

  /** Everything as a page. */
  String page() {
    StringBuilder page = new StringBuilder();
    page.append(
        """
        # Sameness

        Generated by `mvn verify -Pengines` from the built-in engine and the real llama-server, vLLM and mlx-lm; don't edit it. Each probe is a request
        that shows a part of the API's shape: fields, types, order of events, endings, errors (`shape/probe/Probes`). Through the
        hub a name promises one shape, with tool calls in `tool_calls` and thoughts in `reasoning_content`. The model here does not
        think; the probes of reasoning are asked with a chat template that opens a thought, unless `enable_thinking` is false,
        and of vLLM and mlx-lm with a vocabulary that has the tokens `<think>` and `</think>`, by which these two find it. *Same* is: as promised, and as llama-server's through the hub. *Not eligible* is: the engine can't do what is asked, so another worker
        takes the request, or the client gets one `400 model_not_capable` that names the feature.

        ## Through the hub

        | probe | asks for | builtin | llama-server | vllm | mlx-lm |
        |---|---|---|---|---|---|
        """);
    for (ProbeResult each : throughHub(LLAMA_SERVER)) {
      page.append("| ").append(each.probe().name());
      page.append(" | ").append(each.probe().asks());
      for (String engine : ENGINES) {
        page.append(" | ").append(cell(engine, of(throughHub(engine), each.probe())));
      }
      page.append(" |\n");
    }
    page.append(
        """

        ## Not eligible

        | engine | probe | what the engine lacks |
        |---|---|---|
        """);
    for (String engine : ENGINES) {
      notEligible(engine)
          .forEach((probe, lacks) ->
              page.append("| " + engine + " | " + probe + " | " + lacks + " |\n"));
    }
    page.append(
        """

        What each lacks was seen at the engine itself (`shape/dialect/Dialect`): mlx_lm.server 0.32.2 answers such requests
        with status 200 and ignores what was asked, or begins a new answer where one is to be continued.

        ## The engines themselves

        Asked without a hub: the first place where a reply is not as promised, and how many there are.

        | probe | builtin | llama-server | vllm | mlx-lm |
        |---|---|---|---|---|
        """);
    for (ProbeResult each : raw(LLAMA_SERVER)) {
      page.append("| ").append(each.probe().name());
      for (String engine : ENGINES) {
        page.append(" | ").append(rawCell(of(raw(engine), each.probe())));
      }
      page.append(" |\n");
    }
    return page.toString();
  }

  private static ProbeResult of(List<ProbeResult> results, Probe probe) {
    return results.stream().filter(each -> each.probe().equals(probe)).findFirst().orElseThrow();
  }

  private static String rawCell(ProbeResult result) {
    return switch (Verdict.of(PROMISE, result)) {
      case Broken broken -> {
        Difference first = broken.first();
        int more = broken.differences().size() - 1;
        yield code(first.place())
            + " is "
            + code(first.seen())
            + (more == 0 ? "" : ", and " + more + " more");
      }
      case Unanswered _ -> "no reply";
      default -> "as promised";
    };
  }

  private static String code(String text) {
    return "`" + text.replace("|", "\\|") + "`";
  }
}
