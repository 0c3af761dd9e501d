package dev.flotilla.cli.bench;

import dev.flotilla.agent.node.NodeProbe;
import dev.flotilla.bench.dataset.DatasetRefused;
import dev.flotilla.bench.dataset.SiliconBenchFile;
import dev.flotilla.bench.engines.EnginesRun;
import dev.flotilla.bench.engines.EnginesRun.Candidate;
import dev.flotilla.bench.launch.CommandTemplate;
import dev.flotilla.bench.launch.EngineChoice;
import dev.flotilla.bench.launch.RunningServer;
import dev.flotilla.bench.launch.Setting;
import dev.flotilla.bench.load.ServerUnderTest;
import dev.flotilla.bench.measure.Engine;
import dev.flotilla.bench.measure.Engine.Machine;
import dev.flotilla.bench.measure.Finding;
import dev.flotilla.bench.measure.Sweep;
import dev.flotilla.bench.report.EnginesPage;
import dev.flotilla.bench.report.Page;
import dev.flotilla.bench.report.ResultFiles;
import dev.flotilla.bench.report.SiliconReport;
import dev.flotilla.bench.sweep.SweepPlan;
import dev.flotilla.bench.sweep.Swept;
import dev.flotilla.bench.sweep.Trials;
import dev.flotilla.cli.home.HomeOptions;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.NamedFile;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Text;
import dev.flotilla.cli.output.WrongUsage;
import dev.flotilla.wire.fleet.NodeFacts;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** {@code flotilla bench engines}: several engines on this machine under the same load. */
@Command(
    name = "engines",
    description = {
      "Compares several engines on this machine, one after the other, under the same load.",
      "Each is started afresh for each run; the tables are SiliconBench's. An engine is 'llama-server', any other server by its",
      "command line, or one that runs already by its address. In a command line {model}, {port},",
      "{slots}, {context}, {context-total} and {threads} are filled in; no shell reads it, variables",
      "are set with 'env NAME=VALUE program …'.",
      "Ends with 1 where the numbers would mislead, and says why; with 130 after Ctrl-C, which",
      "prints the results so far."
    },
    footer = {
      "%nExamples:",
      "  flotilla bench engines --model m.gguf --engine llama-server \\",
      "      --engine 'no-flash=llama-server --flash-attn off' --levels 1,8",
      "  flotilla bench engines --model Qwen/Qwen3-0.6B --dataset agent \\",
      "      --engine 'vllm=vllm serve {model} --port {port} --max-model-len {context}' \\",
      "      --engine 'mlx=mlx_lm.server --model {model} --port {port}'",
    })
public final class EnginesCommand implements Callable<Integer> {
  private static final int ENGINES_MAX = 16;

  private final Shell shell;

  @Mixin private final ExperimentOptions experiment = new ExperimentOptions();
  @Mixin private final EngineOptions engines = new EngineOptions();
  @Mixin private final HomeOptions home = new HomeOptions();
  @Mixin private final ReportOptions reports = new ReportOptions();

  @Option(
      names = "--engine",
      paramLabel = "ENGINE",
      required = true,
      description =
          "llama-server, NAME=llama-server --option value, NAME=COMMAND LINE or NAME=URL; once for"
              + " each engine.")
  private List<String> choices = List.of();

  @Option(
      names = {"--levels", "--concurrencies"},
      paramLabel = "LIST",
      defaultValue = "1,8,16",
      description = "Concurrencies (default: 1,8,16, as SiliconBench has them).")
  private String levels = "";

  @Option(
      names = "--siliconbench",
      paramLabel = "FILE",
      description =
          "Writes the prompts that were asked as a file that SiliconBench reads, and --dataset file"
              + " here: to give the same load to what only runs there.")
  private @Nullable Path siliconBench;

  public EnginesCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() throws InterruptedException {
    if (experiment.target().namesServer()) {
      throw new WrongUsage("a server that runs is named with --engine NAME=URL, not --url");
    }
    reports.check(shell);
    if (siliconBench != null) {
      NamedFile.writable("--siliconbench", siliconBench);
    }
    List<EngineChoice> chosen = chosen();
    SweepPlan plan = experiment.plan(levels);
    try (Interruption interruption = Interruption.listen(shell);
        ExperimentConsole console =
            new ExperimentConsole(
                shell, experiment.progress(), plan.steps().size() * chosen.size())) {
      Trials trials = new Trials(shape(chosen, plan.requestsMax()), console);
      List<Candidate> candidates = candidates(chosen);
      ExperimentOptions.begin(trials, interruption);
      List<EnginesRun.Outcome> outcomes =
          new EnginesRun(plan, trials, machine(), InstantSource.system(), System::nanoTime)
              .run(candidates);
      console.endLine();
      boolean misleads = report(outcomes);
      keepPrompts(trials);
      return interruption.happened() ? Interruption.CODE : misleads ? 1 : 0;
    } catch (DatasetRefused e) {
      throw PromptOptions.refused(e);
    }
  }

  /** What is the same in all runs: where an engine is started here, the context is too. */
  private Trials.Shape shape(List<EngineChoice> chosen, int count) {
    return chosen.stream().allMatch(EngineChoice.Address.class::isInstance)
        ? experiment.shape(count)
        : experiment.shape(count, engines.context());
  }

  private void keepPrompts(Trials trials) {
    Path file = siliconBench;
    if (file == null || trials.prompts().isEmpty()) {
      return;
    }
    try {
      new ResultFiles().write(file, SiliconBenchFile.of(trials.prompts().get()));
    } catch (IOException e) {
      throw new Failure(String.valueOf(e.getMessage()), e);
    }
    shell.err().println("the prompts are in " + file);
  }

  private List<EngineChoice> chosen() {
    List<EngineChoice> chosen = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (String text : choices) {
      try {
        EngineChoice choice = EngineChoice.parse(text);
        if (!names.add(choice.name())) {
          throw new WrongUsage(
              "--engine: two are called " + choice.name() + "; give one a name, NAME=…");
        }
        chosen.add(choice);
      } catch (CommandTemplate.Malformed e) {
        throw new WrongUsage("--engine '" + Text.printable(text) + "': " + e.getMessage(), e);
      }
    }
    if (chosen.size() > ENGINES_MAX) {
      throw new WrongUsage("--engine: more than " + ENGINES_MAX + " engines");
    }
    return chosen;
  }

  private List<Candidate> candidates(List<EngineChoice> chosen) {
    LocalEngineStarts starts = new LocalEngineStarts(home.home(shell), shell, engines);
    String model = experiment.target().namedModel().orElse("");
    boolean known = chosen.stream().anyMatch(EngineChoice.Known.class::isInstance);
    if (known && model.isEmpty()) {
      throw new WrongUsage("say what llama-server is to serve: --model REF");
    }
    // llama-server takes a file; what other engines take is theirs to say.
    Setting fetched =
        engines.setting(known ? starts.fetch(model).toString() : model, SweepCommand.SLOTS);
    return chosen.stream().map(choice -> candidate(choice, starts, model, fetched)).toList();
  }

  private Candidate candidate(
      EngineChoice choice, LocalEngineStarts starts, String model, Setting setting) {
    return switch (choice) {
      case EngineChoice.Known one -> new Candidate(starts.known(one, model), setting);
      case EngineChoice.Command one -> new Candidate(starts.command(one), setting);
      case EngineChoice.Address one -> {
        var key = experiment.target().givenKey(shell);
        ServerUnderTest server = experiment.target().at(one.url(), key);
        yield new Candidate(
            new RunningServer(
                one.name(), server.base().toString(), experiment.target().onlyModel(server), key),
            setting);
      }
    };
  }

  private static Machine machine() {
    NodeFacts facts = new NodeProbe(List::of).probe();
    return new Machine(facts.host(), facts.cpu(), facts.os() + " " + facts.osVersion());
  }

  /** Prints the comparison and keeps it; whether it would mislead. */
  private boolean report(List<EnginesRun.Outcome> outcomes) {
    List<Engine> measured = outcomes.stream().map(EnginesRun.Outcome::engine).toList();
    if (measured.stream().allMatch(engine -> engine.levels().isEmpty())) {
      shell.out().println("Ended before the first run that counts: there are no results.");
      return true;
    }
    for (int concurrency : SiliconReport.concurrencies(measured)) {
      shell.out().println("Concurrency " + concurrency);
      shell.out().print(SiliconReport.table(measured, concurrency).plain());
      shell.out().println();
    }
    boolean misleads = false;
    Map<String, List<Finding>> findings = new LinkedHashMap<>();
    for (EnginesRun.Outcome outcome : outcomes) {
      String name = outcome.engine().name();
      if (outcome.trouble().isPresent()) {
        shell.out().println("WARNING: " + Text.printable(outcome.trouble().get()));
        misleads = true;
      }
      Optional<Sweep> sweep = outcome.swept().flatMap(Swept::sweep);
      misleads |= sweep.map(Sweep::misleads).orElse(false);
      sweep.ifPresent(measures -> {
        findings.put(name, measures.findings());
        measures
            .levels()
            .forEach(level ->
                findings.put(name + " at concurrency " + level.concurrency(), level.findings()));
      });
    }
    ExperimentConsole.print(shell, findings);
    shell.out().flush();
    reports.keep(kept(measured), shell);
    return misleads;
  }

  private ReportOptions.Report kept(List<Engine> measured) {
    String model = experiment.target().namedModel().orElse(measured.getFirst().model());
    String dataset = experiment.prompts().dataset().name();
    Map<String, String> figures = new LinkedHashMap<>();
    measured.forEach(engine ->
        engine
            .levels()
            .forEach(level ->
                figures.put(
                    engine.name() + " c=" + level.concurrency(),
                    level
                        .result()
                        .filter(result -> !level.crashed())
                        .map(result ->
                            String.format(
                                Locale.ROOT, "%.1f tok/s", result.summary().outputThroughput()))
                        .orElse("CRASHED"))));
    ObjectNode json = SiliconReport.comparison(measured, model, dataset, ZoneId.systemDefault());
    Page page = EnginesPage.of(dataset, measured);
    return new ReportOptions.Report("engines", page.title(), model, figures, json, json, page);
  }
}
