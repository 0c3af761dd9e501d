package dev.flotilla.cli.serve;

import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Style;
import dev.flotilla.cli.output.Text;
import dev.flotilla.hub.fleet.ProgressView;
import dev.flotilla.hub.fleet.WorkerView;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Tells a person how a start goes on: each step with how far it is, each worker when its state
 * changes. On a terminal the step under way is one line that is written over; anywhere else a line
 * comes when a step begins, and then seldom.
 */
final class StartReport {
  private static final long SELDOM_NANOS = 10_000_000_000L;

  private final Shell shell;
  private final LongSupplier nanoTime;
  private final Map<Step, Long> saidAtNanos = new HashMap<>();
  private final Map<String, String> workers = new HashMap<>();
  private boolean lineOpen;

  StartReport(Shell shell, LongSupplier nanoTime) {
    this.shell = shell;
    this.nanoTime = nanoTime;
  }

  /** Two workers may report on one subject in turns, each at its own step. */
  private record Step(String subject, String step) {}

  /** A line that stays. */
  void say(String line) {
    clearLine();
    shell.err().println(line);
    shell.err().flush();
  }

  /** Shows what is new since the last call. */
  void show(List<ProgressView> progress, List<WorkerView> fleet) {
    for (WorkerView worker : fleet) {
      String state = describe(worker);
      String before = workers.put(worker.name(), state);
      // One that the run before left behind is lost until it is started: that is no news.
      boolean remembered = before == null && worker.state() == WorkerView.State.LOST;
      if (!state.equals(before) && !remembered) {
        say(state);
      }
    }
    for (ProgressView view : progress) {
      if (shell.errIsTerminal()) {
        noteForTerminal(view);
      } else {
        noteSeldom(view);
      }
    }
    saidAtNanos
        .keySet()
        .removeIf(
            step -> progress.stream().noneMatch(view -> view.subject().equals(step.subject())));
    if (progress.isEmpty()) {
      clearLine();
    }
  }

  private void noteForTerminal(ProgressView view) {
    String line = "  " + describe(view);
    int width = shell.columns() > 0 ? shell.columns() - 1 : 79;
    if (line.length() > width) {
      line = line.substring(0, width - 1) + '…';
    }
    shell.err().print("\r\u001b[K" + Style.DIM.apply(line, shell.errColours()));
    shell.err().flush();
    lineOpen = true;
  }

  private void noteSeldom(ProgressView view) {
    Step step = new Step(view.subject(), view.step());
    Long before = saidAtNanos.get(step);
    long now = nanoTime.getAsLong();
    if (before == null || now - before >= SELDOM_NANOS) {
      saidAtNanos.put(step, now);
      say("  " + describe(view));
    }
  }

  private void clearLine() {
    if (lineOpen) {
      shell.err().print("\r\u001b[K");
      lineOpen = false;
    }
  }

  private static String describe(ProgressView view) {
    String far = "";
    if (view.totalBytes() > 0) {
      far =
          String.format(
              Locale.ROOT,
              ": %s of %s (%d %%)",
              Text.bytes(view.doneBytes()),
              Text.bytes(view.totalBytes()),
              view.percent());
    } else if (view.doneBytes() > 0) {
      far = ": " + Text.bytes(view.doneBytes());
    }
    return Text.printable(view.step() + " (" + view.subject() + ")" + far);
  }

  private String describe(WorkerView worker) {
    String what = worker.state().name().toLowerCase(Locale.ROOT);
    Style style =
        switch (worker.state()) {
          case SERVING -> Style.GOOD;
          case REFUSED, LOST -> Style.BAD;
          default -> Style.PLAIN;
        };
    String reason = worker.stateReason().isEmpty() ? "" : ": " + worker.stateReason();
    return "  worker "
        + Text.printable(worker.name())
        + " "
        + style.apply(what, shell.errColours())
        + Text.printable(reason);
  }
}
