package dev.flotilla.cli.bench;

import dev.flotilla.bench.dataset.DatasetRefused;
import dev.flotilla.bench.launch.EngineNotStarted;
import dev.flotilla.bench.launch.EngineStart;
import dev.flotilla.bench.launch.RunningServer;
import dev.flotilla.bench.launch.Setting;
import dev.flotilla.bench.load.ServerUnderTest;
import dev.flotilla.bench.load.ServerUnusable;
import dev.flotilla.bench.measure.Finding;
import dev.flotilla.bench.measure.Level;
import dev.flotilla.bench.measure.Summary;
import dev.flotilla.bench.measure.Sweep;
import dev.flotilla.bench.report.ResultFiles;
import dev.flotilla.bench.report.ResultJson;
import dev.flotilla.bench.report.Saved;
import dev.flotilla.bench.report.Sparkline;
import dev.flotilla.bench.report.SweepPage;
import dev.flotilla.bench.report.SweepTable;
import dev.flotilla.bench.sweep.Levels;
import dev.flotilla.bench.sweep.SweepPlan;
import dev.flotilla.bench.sweep.SweepRun;
import dev.flotilla.bench.sweep.Swept;
import dev.flotilla.bench.sweep.Trials;
import dev.flotilla.cli.home.HomeOptions;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.NamedFile;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Text;
import dev.flotilla.cli.output.WrongUsage;
import java.io.IOException;
import java.nio.file.Path;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code flotilla sweep}: one server at several concurrencies, and which of them is worth it. */
@Command(
    name = "sweep",
    description = {
      "Measures a server at rising concurrency, and names the knee.",
      "The knee is from where on more requests at once buy latency and little throughput.",
      "The server is one that runs (--url, or the hub), or",
      "llama-server with --model REF and no --url, started here afresh for each run.",
      "Ends with 1 where the numbers would mislead, and says why; with 130 after Ctrl-C, which",
      "prints the results so far."
    },
    footer = {
      "%nExamples:",
      "  flotilla sweep --url http://127.0.0.1:8484 --input-len 256 --output-len 128",
      "  flotilla sweep --model ~/models/Qwen3-4B-Q4_K_M.gguf --slots 8 --levels 1,2,4,8,16",
      "  flotilla sweep --url http://10.0.0.5:8000 --json new.json --compare old.json",
      "  flotilla sweep --compare old.json new.json --html compared.html",
      "                                                  compares what was saved",
    })
public final class SweepCommand implements Callable<Integer> {
  /** As {@code flotilla up} has it. */
  static final int SLOTS = 4;

  private final Shell shell;

  @Mixin private final ExperimentOptions experiment = new ExperimentOptions();
  @Mixin private final EngineOptions engines = new EngineOptions();
  @Mixin private final HomeOptions home = new HomeOptions();
  @Mixin private final ReportOptions reports = new ReportOptions();

  @Option(
      names = {"--levels", "--concurrencies"},
      paramLabel = "LIST",
      defaultValue = Levels.DEFAULT,
      description = "Concurrencies (default: " + Levels.DEFAULT + ").")
  private String levels = Levels.DEFAULT;

  @Option(
      names = "--compare",
      paramLabel = "FILE",
      arity = "1..2",
      description =
          "Compares with a sweep that --json saved before; with two, them alone and measures"
              + " nothing.")
  private List<Path> compare = List.of();

  public SweepCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() throws InterruptedException {
    if (compare.size() > 2) {
      throw new WrongUsage("--compare: takes one file or two");
    }
    if (compare.size() == 2) {
      reports.check(shell);
      compareSaved(compare.getFirst(), compare.getLast());
      return 0;
    }
    SweepPlan plan = experiment.plan(levels);
    @Nullable Saved before = compare.isEmpty() ? null : read(compare.getFirst());
    reports.check(shell);
    Trials.Shape shape = experiment.shape(plan.requestsMax());
    try (Interruption interruption = Interruption.listen(shell);
        ExperimentConsole console =
            new ExperimentConsole(shell, experiment.progress(), plan.steps().size())) {
      Swept swept = run(plan, new Trials(shape, console), interruption);
      console.endLine();
      boolean misleads = report(swept, before);
      return interruption.happened() ? Interruption.CODE : misleads ? 1 : 0;
    }
  }

  private Swept run(SweepPlan plan, Trials trials, Interruption interruption)
      throws InterruptedException {
    try {
      MeasuredServerOptions target = experiment.target();
      Optional<String> reference = target.namedModel();
      if (target.namesServer() || reference.isEmpty()) {
        ServerUnderTest server = target.server(shell);
        String address = server.base().toString();
        EngineStart running =
            new RunningServer(address, address, target.model(server), target.givenKey(shell));
        ExperimentOptions.begin(trials, interruption);
        return new SweepRun(plan, trials, running, engines.setting("", SLOTS)).run();
      }
      LocalEngineStarts starts = new LocalEngineStarts(home.home(shell), shell, engines);
      Setting setting = engines.setting(starts.fetch(reference.get()).toString(), SLOTS);
      ExperimentOptions.begin(trials, interruption);
      return new SweepRun(plan, trials, starts.llamaServer(reference.get()), setting).run();
    } catch (DatasetRefused e) {
      throw PromptOptions.refused(e);
    } catch (EngineNotStarted | ServerUnusable e) {
      throw new Failure(String.valueOf(e.getMessage()), e);
    }
  }

  /** Prints the sweep and keeps it; whether it would mislead. */
  private boolean report(Swept swept, @Nullable Saved before) {
    if (swept.sweep().isEmpty()) {
      shell.out().println("Ended before the first run that counts: there are no results.");
      return true;
    }
    Sweep sweep = swept.sweep().get();
    print(sweep, swept);
    if (before != null) {
      printComparison(before, new Saved.Swept(sweep));
    }
    reports.keep(kept(sweep), shell);
    return sweep.misleads();
  }

  private static ReportOptions.Report kept(Sweep sweep) {
    Map<String, String> figures = new LinkedHashMap<>();
    sweep
        .levels()
        .forEach(level ->
            figures.put(
                "tok/s at " + level.concurrency(),
                String.format(
                    Locale.ROOT, "%.1f", level.spread(Summary::outputThroughput).median())));
    ZoneId zone = ZoneId.systemDefault();
    return new ReportOptions.Report(
        "sweep",
        "Sweep of " + sweep.load().model() + ", " + sweep.load().dataset(),
        sweep.load().model(),
        figures,
        ResultJson.of(sweep, true, zone),
        ResultJson.of(sweep, false, zone),
        SweepPage.of(sweep));
  }

  private void print(Sweep sweep, Swept swept) {
    shell
        .out()
        .println(
            Text.printable(
                "Sweep of %s at %s, %s"
                    .formatted(sweep.load().model(), sweep.load().url(), sweep.load().dataset())));
    if (!swept.commandLine().isEmpty()) {
      shell.out().println("  " + Text.printable(Text.commandLine(swept.commandLine())));
    }
    shell.out().print(SweepTable.of(sweep).plain());
    List<Double> rates =
        sweep.levels().stream()
            .map(level -> level.spread(Summary::outputThroughput).median())
            .toList();
    shell.out().println("out tok/s " + Sparkline.of(rates));
    sweep.kneeWords().ifPresent(words -> shell.out().println("Knee " + words));
    Map<String, List<Finding>> findings = new LinkedHashMap<>();
    findings.put("", sweep.findings());
    for (Level level : sweep.levels()) {
      findings.put("concurrency " + level.concurrency(), level.findings());
    }
    ExperimentConsole.print(shell, findings);
    shell.out().flush();
  }

  private Saved read(Path file) {
    try {
      return new ResultFiles().read(NamedFile.readable("--compare", file));
    } catch (IOException e) {
      throw new Failure("--compare: " + e.getMessage(), e);
    }
  }

  /** Prints two saved measurements beside one another and keeps that, where it is wanted. */
  private void compareSaved(Path first, Path second) {
    Saved before = read(first);
    Saved after = read(second);
    printComparison(before, after);
    if (reports.wanted()) {
      reports.keep(SavedComparison.report(first, before, second, after), shell);
    }
  }

  private void printComparison(Saved before, Saved after) {
    if (before instanceof Saved.Swept) {
      shell.out().println();
    }
    shell.out().print(SavedComparison.table(before, after).plain());
    shell.out().flush();
  }
}
