package dev.flotilla.cli.serve;

import dev.flotilla.agent.AgentListener;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Text;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.lanes.ControlMessage.Happened;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * What {@code flotilla agent} tells the one who started it: the hub came or went, a worker changed,
 * a long step began or moved on.
 */
public final class AgentNews implements AgentListener {
  private static final long SELDOM_NANOS = 10_000_000_000L;

  private final Shell shell;
  private final LongSupplier nanoTime;
  private final Map<Step, Long> saidAtNanos = new ConcurrentHashMap<>();
  private final Map<String, String> workers = new ConcurrentHashMap<>();

  public AgentNews(Shell shell, LongSupplier nanoTime) {
    this.shell = shell;
    this.nanoTime = nanoTime;
  }

  /** Two workers may report on one subject in turns, each at its own step. */
  private record Step(String subject, String step) {}

  @Override
  public void connected(String hubId) {
    say("connected to the hub");
  }

  @Override
  public void disconnected(String why) {
    say("no hub at the moment, dialling on: " + why);
  }

  @Override
  public void workerChanged(WorkerReport report) {
    String state =
        report.phase().name().toLowerCase(java.util.Locale.ROOT)
            + (report.reason().isEmpty() ? "" : ": " + report.reason());
    if (!state.equals(workers.put(report.id(), state))) {
      say("worker " + report.id() + " " + state);
    }
  }

  @Override
  public void happened(Happened event) {
    if (event.severity() != Severity.INFO) {
      say(event.subject() + ": " + event.message());
    }
  }

  @Override
  public void progress(
      String subject, String step, long doneBytes, long totalBytes, boolean finished) {
    if (finished) {
      saidAtNanos.keySet().removeIf(said -> said.subject().equals(subject));
      return;
    }
    Step at = new Step(subject, step);
    Long before = saidAtNanos.get(at);
    long now = nanoTime.getAsLong();
    if (before == null || now - before >= SELDOM_NANOS) {
      saidAtNanos.put(at, now);
      String far =
          totalBytes > 0 ? ": " + Text.bytes(doneBytes) + " of " + Text.bytes(totalBytes) : "";
      say(step + " (" + subject + ")" + far);
    }
  }

  private void say(String line) {
    shell.err().println("  " + Text.printable(line));
    shell.err().flush();
  }
}
