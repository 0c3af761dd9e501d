package dev.flotilla.cli.bench;

import dev.flotilla.bench.load.Progress;
import dev.flotilla.bench.measure.Finding;
import dev.flotilla.bench.measure.Result;
import dev.flotilla.bench.measure.Summary;
import dev.flotilla.bench.sweep.Trials;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Style;
import dev.flotilla.cli.output.Text;
import dev.flotilla.wire.text.Counted;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Tells on standard error how an experiment goes: a line for each run, and how far it is. */
final class ExperimentConsole implements Trials.Listener, AutoCloseable {
  private final Shell shell;
  private final boolean progress;
  private final int runs;
  private int begun;
  private @Nullable ProgressLine line;

  /**
   * @param progress whether anybody wants to see how far a run is
   * @param runs how many there are
   */
  ExperimentConsole(Shell shell, boolean progress, int runs) {
    this.shell = shell;
    this.progress = progress;
    this.runs = runs;
  }

  @Override
  public void says(String what) {
    say("  " + what + " …");
  }

  @Override
  public void begins(String what, int requests, Progress of) {
    begun++;
    say("[%d/%d] %s: %s".formatted(begun, runs, what, Counted.of(requests, "request")));
    line = ProgressLine.start(shell, of, System::nanoTime, progress);
  }

  @Override
  public void ends(String what, Result result) {
    endLine();
    Summary summary = result.summary();
    say(
        String.format(
            Locale.ROOT,
            "      %.1f tok/s, TTFT p50 %.0f ms%s",
            summary.outputThroughput(),
            summary.ttft().median(),
            summary.failed() > 0 ? ", " + summary.failed() + " failed" : ""));
  }

  private void say(String text) {
    shell.err().println(Text.printable(text));
    shell.err().flush();
  }

  /** The line of a run that was given up is ended too. */
  @Override
  public void close() {
    endLine();
  }

  /** Nothing is written over what follows. */
  void endLine() {
    ProgressLine open = line;
    line = null;
    if (open != null) {
      open.close();
    }
  }

  /**
   * Prints what a reader must know, each thing once.
   *
   * @param findings by where they were found, such as {@code concurrency 8}; empty for all of it
   */
  static void print(Shell shell, Map<String, List<Finding>> findings) {
    Map<Finding.Kind, Said> said = new LinkedHashMap<>();
    findings.forEach((where, all) -> {
      for (Finding finding : all) {
        said.computeIfAbsent(finding.kind(), kind -> new Said(where, finding)).at(where, finding);
      }
    });
    said.values().forEach(each -> shell.out().println(each.line(shell)));
  }

  /** One kind of finding, and where it was found. */
  private static final class Said {
    private final Set<String> places = new LinkedHashSet<>();
    private String where;
    private Finding finding;

    Said(String where, Finding finding) {
      this.where = where;
      this.finding = finding;
    }

    void at(String place, Finding other) {
      places.add(place);
      if (other.misleads() && !finding.misleads()) {
        where = place;
        finding = other;
      }
    }

    String line(Shell shell) {
      List<String> elsewhere = places.stream().filter(place -> !place.equals(where)).toList();
      String begin =
          finding.misleads()
              ? Style.CARE.apply("WARNING: ", shell.colours())
              : Style.DIM.apply("note: ", shell.colours());
      return begin
          + Text.printable(
              (where.isEmpty() ? "" : where + ": ")
                  + finding.words()
                  + (elsewhere.isEmpty()
                      ? ""
                      : " So too at " + String.join(", ", elsewhere) + "."));
    }
  }
}
