package dev.flotilla.cli.bench;

import dev.flotilla.bench.arms.Arm;
import dev.flotilla.bench.arms.ArmServer;
import dev.flotilla.bench.arms.ArmsPlan;
import dev.flotilla.bench.arms.ArmsRun;
import dev.flotilla.bench.arms.ServerCounters;
import dev.flotilla.bench.dataset.DatasetRefused;
import dev.flotilla.bench.launch.EngineNotStarted;
import dev.flotilla.bench.launch.RunningServer;
import dev.flotilla.bench.load.ServerUnderTest;
import dev.flotilla.bench.load.ServerUnusable;
import dev.flotilla.bench.sweep.Trials;
import dev.flotilla.cli.client.HubOptions;
import dev.flotilla.cli.home.HomeOptions;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.WholeNumber;
import dev.flotilla.cli.output.WrongUsage;
import dev.flotilla.cli.serve.ModelName;
import java.net.URI;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code flotilla bench arms}: what a second slot and a second machine are worth. */
@Command(
    name = "arms",
    description = {
      "Measures the same load on one worker, on the same machine with more slots, and on two machines.",
      "In turn: arm A is one worker, C the same machine with more slots, B both machines.",
      "They are three addresses, or with --model REF they are started here: A and C",
      "on one processor, B as a hub and two workers with a processor each.",
      "Ends with 1 where the numbers would mislead, and says why; with 130 after Ctrl-C, which",
      "prints the results so far."
    },
    footer = {
      "%nExamples:",
      "  flotilla bench arms --model ~/models/Qwen3-4B-Q4_K_M.gguf --html arms.html",
      "  flotilla bench arms --a http://10.0.0.5:8080 --c http://10.0.0.5:8081 \\",
      "      --b http://10.0.0.5:8484 --dataset chat --num-prompts 32 --max-concurrency 8",
    })
public final class ArmsCommand implements Callable<Integer> {
  /** Of a run of which nobody says how many requests it has. */
  private static final int REQUESTS = 16;

  private final Shell shell;

  @Mixin private final ExperimentOptions experiment = new ExperimentOptions();
  @Mixin private final EngineOptions engines = new EngineOptions();
  @Mixin private final HomeOptions home = new HomeOptions();
  @Mixin private final ReportOptions reports = new ReportOptions();

  @Option(names = "--a", paramLabel = "URL", description = "One worker.")
  private @Nullable String one;

  @Option(names = "--c", paramLabel = "URL", description = "The same machine with more slots.")
  private @Nullable String more;

  @Option(names = "--b", paramLabel = "URL", description = "Both machines, such as a hub.")
  private @Nullable String both;

  @Option(
      names = "--max-concurrency",
      paramLabel = "N",
      defaultValue = "4",
      converter = Concurrency.class,
      description = "Requests under way at once, the same for all arms (default: 4).")
  private int concurrency;

  /** As a sweep's levels. */
  static final class Concurrency extends WholeNumber {
    Concurrency() {
      super(1, 10_000);
    }
  }

  public ArmsCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() throws InterruptedException {
    if (experiment.target().namesServer()) {
      throw new WrongUsage("the servers of the arms are named with --a, --c and --b, not --url");
    }
    reports.check(shell);
    Map<Arm, String> addresses = addresses();
    List<Arm> arms =
        addresses.isEmpty()
            ? List.of(Arm.values())
            : Arrays.stream(Arm.values()).filter(addresses::containsKey).toList();
    int asked = experiment.prompts().count();
    int requests = asked == 0 ? Math.max(REQUESTS, 2 * concurrency) : asked;
    ArmsPlan plan = ArmsPlan.of(arms, experiment.repeats());
    try (Interruption interruption = Interruption.listen(shell);
        ExperimentConsole console =
            new ExperimentConsole(shell, experiment.progress(), plan.steps().size())) {
      Trials trials = new Trials(experiment.shape(requests), console);
      Optional<ArmsReport> report =
          addresses.isEmpty()
              ? startedHere(plan, trials, requests, interruption)
              : Optional.of(there(plan, trials, requests, servers(addresses), interruption));
      console.endLine();
      boolean misleads = show(report);
      return interruption.happened() ? Interruption.CODE : misleads ? 1 : 0;
    } catch (DatasetRefused e) {
      throw PromptOptions.refused(e);
    } catch (EngineNotStarted | ServerUnusable e) {
      throw new Failure(String.valueOf(e.getMessage()), e);
    }
  }

  private ArmsReport there(
      ArmsPlan plan,
      Trials trials,
      int requests,
      Map<Arm, ArmServer> servers,
      Interruption interruption)
      throws ServerUnusable, DatasetRefused, InterruptedException {
    ExperimentOptions.begin(trials, interruption);
    return new ArmsReport(
        new ArmsRun(plan, trials, servers, concurrency, requests).run(), List.of());
  }

  private Map<Arm, String> addresses() {
    Map<Arm, String> addresses = new EnumMap<>(Arm.class);
    if (one != null) {
      addresses.put(Arm.A, one);
    }
    if (more != null) {
      addresses.put(Arm.C, more);
    }
    if (both != null) {
      addresses.put(Arm.B, both);
    }
    if (addresses.size() == 1) {
      throw new WrongUsage("one arm alone says nothing: name two or three of --a, --c and --b");
    }
    if (addresses.isEmpty() && experiment.target().namedModel().isEmpty()) {
      throw new WrongUsage(
          "say which arms: --a URL --c URL --b URL, or --model REF to start them here");
    }
    return addresses;
  }

  private Map<Arm, ArmServer> servers(Map<Arm, String> addresses) {
    EngineCounters counters = new EngineCounters();
    Map<Arm, ArmServer> servers = new EnumMap<>(Arm.class);
    addresses.forEach((arm, text) -> {
      URI address = HubOptions.httpAddress(text, "--" + arm.name().toLowerCase(Locale.ROOT));
      Optional<String> key = experiment.target().givenKey(shell);
      ServerUnderTest server = experiment.target().at(address, key);
      String api = server.base().toString();
      RunningServer running = new RunningServer(api, api, experiment.target().model(server), key);
      servers.put(arm, new ArmServer(running, () -> counted(counters, server.base(), key)));
    });
    return servers;
  }

  private static Map<String, ServerCounters> counted(
      EngineCounters counters, URI api, Optional<String> key) {
    try {
      return counters.read(api, key).map(each -> Map.of(each.server(), each)).orElse(Map.of());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Map.of();
    }
  }

  /** Empty where it was ended before anything was measured. */
  private Optional<ArmsReport> startedHere(
      ArmsPlan plan, Trials trials, int requests, Interruption interruption)
      throws EngineNotStarted, ServerUnusable, DatasetRefused, InterruptedException {
    String reference = experiment.target().namedModel().orElseThrow();
    LocalEngineStarts starts = new LocalEngineStarts(home.home(shell), shell, engines);
    Path file = starts.fetch(reference);
    LocalArms.Wanted wanted =
        new LocalArms.Wanted(
            ModelName.of(reference),
            file,
            engines.setting(file.toString(), 2),
            engines.readyWithin());
    ExperimentOptions.begin(trials, interruption);
    Optional<LocalArms> started =
        trials.starting(
            "starting the arms",
            () -> LocalArms.start(starts, starts.llamaServer(reference), wanted));
    if (started.isEmpty()) {
      return Optional.empty();
    }
    try (LocalArms arms = started.get()) {
      ArmsRun run = new ArmsRun(plan, trials, arms.servers(), concurrency, requests);
      return Optional.of(new ArmsReport(run.run(), arms.notes()));
    }
  }

  /** Prints and keeps it; whether it would mislead. */
  private boolean show(Optional<ArmsReport> report) {
    if (report.isEmpty() || report.get().isEmpty()) {
      shell.out().println("Ended before the first run that counts: there are no results.");
      return true;
    }
    report.get().print(shell);
    reports.keep(report.get().kept(), shell);
    return report.get().misleads();
  }
}
