package dev.flotilla.cli.compare;

import dev.flotilla.cli.client.HubOptions;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.Format;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Style;
import dev.flotilla.cli.output.Table;
import dev.flotilla.cli.output.Table.Cell;
import dev.flotilla.cli.output.Text;
import dev.flotilla.cli.output.WholeNumber;
import dev.flotilla.cli.output.WrongUsage;
import dev.flotilla.shape.probe.Probe;
import dev.flotilla.shape.probe.ProbeLimits;
import dev.flotilla.shape.probe.ProbeResult;
import dev.flotilla.shape.probe.ProbeRun;
import dev.flotilla.shape.probe.ProbeTarget;
import dev.flotilla.shape.probe.Probes;
import dev.flotilla.shape.report.CompareReport;
import dev.flotilla.shape.report.Compared;
import dev.flotilla.shape.report.Compared.Different;
import dev.flotilla.shape.report.Compared.NotCompared;
import dev.flotilla.shape.report.JUnitReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code flotilla compare}: asks two servers the same probes at once and shows where the shapes of
 * their replies differ.
 */
@Command(
    name = "compare",
    description =
        "Asks two OpenAI-compatible servers the same probes and compares the shapes of their replies:"
            + " fields, types, order of events, endings, errors; never what the model says.",
    footer = {
      "%nExits with 1 where they differ.",
      "%nExamples:",
      "  flotilla compare 127.0.0.1:8080 127.0.0.1:9301",
      "  flotilla compare http://10.0.0.5:8080/v1 https://api.example.com/v1 --key-b env:B_KEY",
      "  flotilla compare A B --model smollm2 --context 4096 -o json --junit shapes.xml",
      "  flotilla compare A B --probe tools-named --probe json-schema",
    })
public final class CompareCommand implements Callable<Integer> {
  private static final int TABLE_DIFFERENCES_MAX = 1;

  private final Shell shell;
  private final LongSupplier nanoClock;

  @Parameters(index = "0", paramLabel = "A", description = "The server that is held to.")
  private String addressA = "";

  @Parameters(index = "1", paramLabel = "B", description = "The server that is looked at.")
  private String addressB = "";

  @Option(
      names = "--model",
      paramLabel = "NAME",
      description = "The model's name at both (default: the only one that each lists).")
  private @Nullable String model;

  @Option(names = "--model-a", paramLabel = "NAME", description = "The model's name at A.")
  private @Nullable String modelA;

  @Option(names = "--model-b", paramLabel = "NAME", description = "The model's name at B.")
  private @Nullable String modelB;

  @Option(
      names = "--key-a",
      paramLabel = "WHERE",
      description = "Where A's key is: env:VARIABLE or file:PATH. Never the key itself.")
  private @Nullable String keyA;

  @Option(
      names = "--key-b",
      paramLabel = "WHERE",
      description = "Where B's key is: env:VARIABLE or file:PATH.")
  private @Nullable String keyB;

  @Option(
      names = "--ca",
      paramLabel = "FILE",
      description = "Certificate (PEM) of a private authority that https servers are checked by.")
  private @Nullable Path ca;

  @Option(
      names = "--context",
      paramLabel = "TOKENS",
      converter = Tokens.class,
      description =
          "Length of the context, for prompts that are too long (default: the longer of what the"
              + " servers list; without one these probes are left out).")
  private @Nullable Integer context;

  @Option(
      names = "--probe",
      paramLabel = "NAME",
      description = "Only this probe; may be given several times (default: all).")
  private List<String> names = List.of();

  @Option(
      names = "--embeddings",
      description = "The probes for a model that answers /v1/embeddings, instead of chats.")
  private boolean embeddings;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      converter = Seconds.class,
      description = "For one probe at one server (default: 60).")
  private @Nullable Integer timeout;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      converter = Format.Converter.class,
      description = "table, json or yaml (default: table).")
  private Format format = Format.TABLE;

  @Option(
      names = "--junit",
      paramLabel = "FILE",
      description = "Writes the results as JUnit XML, a test for each probe.")
  private @Nullable Path junit;

  public CompareCommand(Shell shell) {
    this(shell, System::nanoTime);
  }

  CompareCommand(Shell shell, LongSupplier nanoClock) {
    this.shell = shell;
    this.nanoClock = nanoClock;
  }

  @Override
  public Integer call() {
    List<Probe> probes = probes();
    ProbeLimits limits = limits();
    try (ComparedServer a =
            new ComparedServer(
                "A", HubOptions.httpAddress(addressA, "A"), keyA, ca, shell, limits);
        ComparedServer b =
            new ComparedServer(
                "B", HubOptions.httpAddress(addressB, "B"), keyB, ca, shell, limits)) {
      String nameA = a.model(Optional.ofNullable(modelA != null ? modelA : model));
      String nameB = b.model(Optional.ofNullable(modelB != null ? modelB : model));
      int tokens = context != null ? context : Math.max(a.contextTokens(), b.contextTokens());
      CompareReport report =
          ask(a, new ProbeTarget(nameA, tokens), b, new ProbeTarget(nameB, tokens), probes, limits);
      writeJUnit(report);
      print(report);
      return report.different() > 0 || report.same() == 0 ? 1 : 0;
    }
  }

  private List<Probe> probes() {
    List<Probe> all = embeddings ? Probes.embeddings() : Probes.all();
    List<Probe> chosen = new ArrayList<>();
    for (String name : names) {
      chosen.add(
          Probes.named(name)
              .orElseThrow(() ->
                  new WrongUsage(
                      "--probe: there is no probe '"
                          + Text.printable(name)
                          + "'; there are "
                          + String.join(", ", all.stream().map(Probe::name).toList()))));
    }
    return chosen.isEmpty() ? all : chosen;
  }

  private ProbeLimits limits() {
    return timeout == null
        ? ProbeLimits.DEFAULTS
        : ProbeLimits.DEFAULTS.withCall(Duration.ofSeconds(timeout));
  }

  /** Asks both at once: neither waits for the other. */
  private CompareReport ask(
      ComparedServer a,
      ProbeTarget targetA,
      ComparedServer b,
      ProbeTarget targetB,
      List<Probe> probes,
      ProbeLimits limits) {
    ProbeRun run = new ProbeRun(limits, nanoClock);
    try (CompareProgress progress = new CompareProgress(shell, probes.size())) {
      FutureTask<List<ProbeResult>> askA =
          new FutureTask<>(
              () -> run.run(a.caller(), targetA, probes, _ -> Optional.empty(), progress::doneByA));
      FutureTask<List<ProbeResult>> askB =
          new FutureTask<>(
              () -> run.run(b.caller(), targetB, probes, _ -> Optional.empty(), progress::doneByB));
      Thread threadA = Thread.ofVirtual().name("probes-a").start(askA);
      Thread threadB = Thread.ofVirtual().name("probes-b").start(askB);
      try {
        return CompareReport.of(a.described(targetA), askA.get(), b.described(targetB), askB.get());
      } catch (ExecutionException bug) {
        throw new IllegalStateException("the probes ended with an error", bug.getCause());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new Failure("interrupted while the servers were asked", e);
      } finally {
        threadA.interrupt();
        threadB.interrupt();
      }
    }
  }

  private void writeJUnit(CompareReport report) {
    Path file = junit;
    if (file == null) {
      return;
    }
    try {
      Files.writeString(file, JUnitReport.xml(report));
    } catch (IOException e) {
      throw new Failure("--junit: " + file + " can't be written: " + e.getMessage(), e);
    }
  }

  private void print(CompareReport report) {
    if (format.forPrograms()) {
      format.printDocument(report.json(), shell);
      return;
    }
    shell.out().println("A  " + server(report.first()));
    shell.out().println("B  " + server(report.second()));
    shell.out().println();
    Table table = new Table(List.of("PROBE", "A", "B", "SHAPES"));
    for (Compared each : report.compared()) {
      table.add(
          List.of(
              Cell.of(each.probe().name()),
              Cell.of(CompareReport.inShort(each.first())),
              Cell.of(CompareReport.inShort(each.second())),
              shapes(each)));
    }
    table.print(shell, shell.width());
    for (Compared each : report.compared()) {
      if (each.sameness() instanceof Different different) {
        differences(each.probe(), different);
      }
    }
    shell.out().println();
    shell.out().println(summary(report));
    shell.out().flush();
  }

  private static String server(CompareReport.Server server) {
    return Text.printable(server.address()) + ", model " + Text.printable(server.model());
  }

  private static Cell shapes(Compared compared) {
    return switch (compared.sameness()) {
      case Compared.Same _ -> new Cell("same", Style.GOOD);
      case NotCompared not -> new Cell("not compared: " + not.why(), Style.DIM);
      case Different different ->
          new Cell(
              different.differences().size() == 1
                  ? "different"
                  : "different in " + different.differences().size() + " places",
              Style.BAD);
    };
  }

  private void differences(Probe probe, Different different) {
    boolean colours = shell.colours();
    shell.out().println();
    shell.out().println(Style.STRONG.apply(probe.name(), colours) + ": " + probe.asks());
    different.differences().stream()
        .limit(format == Format.WIDE ? Integer.MAX_VALUE : TABLE_DIFFERENCES_MAX)
        .forEach(difference -> {
          for (String line : CompareReport.diff(difference)) {
            Style style =
                switch (line.charAt(0)) {
                  case '-' -> Style.BAD;
                  case '+' -> Style.GOOD;
                  default -> Style.DIM;
                };
            shell.out().println("  " + style.apply(Text.printable(line), colours));
          }
        });
  }

  private static String summary(CompareReport report) {
    StringBuilder line = new StringBuilder();
    line.append(report.same()).append(" same, ").append(report.different()).append(" different");
    if (report.notCompared() > 0) {
      line.append(", ").append(report.notCompared()).append(" not compared");
    }
    if (report.different() > 0) {
      line.append("; -o wide shows every difference");
    }
    return line.toString();
  }

  /** From one second to an hour. */
  static final class Seconds extends WholeNumber {
    Seconds() {
      super(1, 3_600);
    }
  }

  /** Tokens of a context. */
  static final class Tokens extends WholeNumber {
    Tokens() {
      super(64, 16 << 20);
    }
  }
}
