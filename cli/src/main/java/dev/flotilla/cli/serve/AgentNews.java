package dev.flotilla.cli.serve;

import dev.flotilla.agent.AgentListener;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Text;
import dev.flotilla.wire.ControlMessage.Happened;
import dev.flotilla.wire.ControlMessage.Severity;
import dev.flotilla.wire.WorkerReport;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * What {@code flotilla agent} tells the one who started it: the hub came or went, a worker changed,
 * a long step began or moved on.
 */
final class AgentNews implements AgentListener {
  private static final long SELDOM_NANOS = 10_000_000_000L;

  private final Shell shell;
  private final LongSupplier nanoTime;
  private final Map<String, Said> steps = new ConcurrentHashMap<>();
  private final Map<String, String> workers = new ConcurrentHashMap<>();

  AgentNews(Shell shell, LongSupplier nanoTime) {
    this.shell = shell;
    this.nanoTime = nanoTime;
  }

  private record Said(String step, long atNanos) {}

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
    Said before = steps.get(subject);
    long now = nanoTime.getAsLong();
    if (finished) {
      steps.remove(subject);
    } else if (before == null
        || !before.step().equals(step)
        || now - before.atNanos() >= SELDOM_NANOS) {
      steps.put(subject, new Said(step, now));
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
