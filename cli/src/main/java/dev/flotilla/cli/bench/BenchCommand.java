package dev.flotilla.cli.bench;

import dev.flotilla.bench.dataset.Dataset;
import dev.flotilla.bench.dataset.DatasetLimits;
import dev.flotilla.bench.dataset.DatasetOptions;
import dev.flotilla.bench.dataset.DatasetRefused;
import dev.flotilla.bench.dataset.Datasets;
import dev.flotilla.bench.dataset.Server;
import dev.flotilla.bench.load.LoadGenerator;
import dev.flotilla.bench.load.LoadPlan;
import dev.flotilla.bench.load.Progress;
import dev.flotilla.bench.load.Rehearsal;
import dev.flotilla.bench.load.ServerUnderTest;
import dev.flotilla.bench.load.ServerUnusable;
import dev.flotilla.bench.load.TokenRecount;
import dev.flotilla.bench.measure.Conditions;
import dev.flotilla.bench.measure.Load;
import dev.flotilla.bench.measure.Result;
import dev.flotilla.bench.measure.Run;
import dev.flotilla.bench.measure.Summary;
import dev.flotilla.bench.report.ResultJson;
import dev.flotilla.bench.report.RunPage;
import dev.flotilla.bench.report.ServingBlock;
import dev.flotilla.bench.report.Shown;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Text;
import dev.flotilla.cli.output.WrongUsage;
import java.time.Duration;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code flotilla bench}: one run of load on one server, and the field's block of figures. */
@Command(
    name = "bench",
    description = {
      "Measures any OpenAI-compatible server, with the options and figures of 'vllm bench serve'.",
      "Ends with 1 where the numbers would mislead, and says why; with 130 after Ctrl-C, which",
      "prints the results so far."
    },
    footer = {
      "%nExamples:",
      "  flotilla bench --input-len 256 --output-len 128 --num-prompts 64 --max-concurrency 8",
      "  flotilla bench --url http://10.0.0.5:8000 --request-rate 4 --num-prompts 200",
      "  flotilla bench --dataset agent --max-concurrency 4 --save-result --label one-worker",
    })
public final class BenchCommand implements Callable<Integer> {
  private static final Duration ASK_AGAIN = Duration.ofSeconds(1);

  private final Shell shell;

  @Mixin private final MeasuredServerOptions target = new MeasuredServerOptions();
  @Mixin private final PromptOptions prompts = new PromptOptions();
  @Mixin private final PaceOptions pace = new PaceOptions();
  @Mixin private final ResultOptions results = new ResultOptions();
  @Mixin private final ReportOptions reports = new ReportOptions();

  @Option(
      names = {"--no-progress", "--disable-tqdm"},
      description = "Does not show how far the run is.")
  private boolean noProgress;

  public BenchCommand(Shell shell) {
    this.shell = shell;
  }

  /** The command as it is registered; what measures more than one run is below it. */
  public static CommandLine of(Shell shell) {
    CommandLine command = new CommandLine(new BenchCommand(shell));
    FieldOptions.refuse(command.getCommandSpec());
    command.addSubcommand(new ArmsCommand(shell));
    command.addSubcommand(new EnginesCommand(shell));
    return command;
  }

  @Override
  public Integer call() throws InterruptedException {
    DatasetOptions wanted = prompts.dataset();
    pace.check();
    results.check();
    reports.check(shell);
    target.form("");
    try (Interruption interruption = Interruption.listen(shell)) {
      return run(wanted, interruption);
    }
  }

  private int run(DatasetOptions wanted, Interruption interruption) throws InterruptedException {
    ServerUnderTest server = target.server(shell);
    long readyBy = System.nanoTime() + pace.ready().toNanos();
    String model = model(server, readyBy);
    try (Server questions = server.questions()) {
      Datasets datasets = new Datasets(questions, model, DatasetLimits.DEFAULTS);
      Dataset dataset = dataset(datasets, wanted);
      LoadPlan plan = pace.plan(dataset.prompts());
      LoadGenerator generator =
          new LoadGenerator(server, target.form(model), pace.limits(), target.keepAlive());
      if (!pace.ready().isZero()) {
        awaitReady(generator, dataset, readyBy);
      }
      OptionalInt slots = server.slots();
      Rehearsal.hold();
      Load load =
          new Load(
                  server.base().toString(),
                  model,
                  target.endpoint().word(),
                  dataset.description(),
                  dataset.prompts().size(),
                  plan.maxConcurrency(),
                  PaceOptions.configuredRate(plan, dataset.prompts().size()),
                  pace.burstiness(),
                  prompts.seed())
              .ramped(pace.ramp());
      interruption.ends(() -> end(generator, questions));
      return measure(generator, load, plan, dataset, datasets, slots, interruption);
    } catch (ServerUnusable e) {
      throw new Failure(String.valueOf(e.getMessage()), e);
    }
  }

  /** Answers may be counted yet, after the run: those that are not then stay as they are. */
  private static void end(LoadGenerator generator, Server questions) {
    generator.stop();
    questions.close();
  }

  private int measure(
      LoadGenerator generator,
      Load load,
      LoadPlan plan,
      Dataset dataset,
      Datasets datasets,
      OptionalInt slots,
      Interruption interruption)
      throws ServerUnusable, InterruptedException {
    Progress progress = new Progress();
    Run run;
    try (ProgressLine _ = ProgressLine.start(shell, progress, System::nanoTime, !noProgress)) {
      run = generator.run(load, plan, dataset.prompts(), progress);
    } catch (IllegalArgumentException e) {
      throw new WrongUsage(String.valueOf(e.getMessage()), e);
    }
    if (!interruption.happened()) {
      run = datasets.tokenizer().map(new TokenRecount(run)::by).orElse(run);
    }
    boolean misleads = report(run, slots);
    return interruption.happened() ? Interruption.CODE : misleads ? 1 : 0;
  }

  /** Prints the figures and keeps them; whether they would mislead. */
  private boolean report(Run run, OptionalInt slots) {
    Shown shown = results.shown();
    Conditions conditions = new Conditions(slots, slots.isPresent() ? "its /props" : "");
    Result result =
        Result.of(run, results.goals(), shown.percents(), conditions, results.metadata());
    shell.out().print(ServingBlock.of(result, shown));
    shell.out().flush();
    results.save(result).ifPresent(file -> shell.err().println("the result is in " + file));
    reports.keep(kept(result), shell);
    return result.misleads();
  }

  private static ReportOptions.Report kept(Result result) {
    Load load = result.run().load();
    Summary summary = result.summary();
    Map<String, String> figures = new LinkedHashMap<>();
    figures.put("req/s", number(summary.requestThroughput()));
    figures.put("out tok/s", number(summary.outputThroughput()));
    figures.put("TTFT p50 ms", number(summary.ttft().median()));
    figures.put("TPOT p50 ms", number(summary.tpot().median()));
    figures.put("failed", Integer.toString(summary.failed()));
    ZoneId zone = ZoneId.systemDefault();
    return new ReportOptions.Report(
        "bench",
        "Run of " + load.model() + ", " + load.dataset(),
        load.model(),
        figures,
        ResultJson.of(result, true, zone),
        ResultJson.of(result, false, zone),
        RunPage.of(result));
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  private String model(ServerUnderTest server, long readyBy) throws InterruptedException {
    while (true) {
      try {
        return target.model(server);
      } catch (Failure notYet) {
        if (System.nanoTime() - readyBy >= 0) {
          throw notYet;
        }
        Thread.sleep(ASK_AGAIN);
      }
    }
  }

  private void awaitReady(LoadGenerator generator, Dataset dataset, long readyBy)
      throws ServerUnusable, InterruptedException {
    while (true) {
      Optional<String> trouble = generator.tryOne(dataset.prompts().getFirst());
      if (trouble.isEmpty()) {
        return;
      }
      if (System.nanoTime() - readyBy >= 0) {
        throw new Failure(
            "no good answer within "
                + pace.ready().toSeconds()
                + " s (--ready-check-timeout-sec): "
                + Text.printable(trouble.get()));
      }
      Thread.sleep(ASK_AGAIN);
    }
  }

  private Dataset dataset(Datasets datasets, DatasetOptions wanted) {
    try {
      Dataset dataset = datasets.make(wanted);
      dataset.notes().forEach(note -> shell.err().println("note: " + Text.printable(note)));
      return dataset;
    } catch (DatasetRefused e) {
      throw PromptOptions.refused(e);
    }
  }
}
