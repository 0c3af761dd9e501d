package dev.flotilla.cli.bench;

import dev.flotilla.bench.load.Progress;
import dev.flotilla.cli.output.Shell;
import java.time.Duration;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * How far a run is, on standard error: one line that is written over on a terminal, a new one now
 * and then elsewhere. Begins with {@link #start}, ends with {@link #close}.
 */
final class ProgressLine implements AutoCloseable {
  private static final Duration ON_A_TERMINAL = Duration.ofMillis(500);
  private static final Duration ELSEWHERE = Duration.ofSeconds(30);
  private static final String ERASE = "\r\u001b[K";

  private final Shell shell;
  private final Progress progress;
  private final LongSupplier nanoClock;
  private final Thread thread;
  private long begun = -1;

  private ProgressLine(Shell shell, Progress progress, LongSupplier nanoClock) {
    this.shell = shell;
    this.progress = progress;
    this.nanoClock = nanoClock;
    this.thread = Thread.ofVirtual().name("progress").unstarted(this::show);
  }

  /**
   * Shows it from now on.
   *
   * @param wanted whether anybody wants to see it
   */
  static ProgressLine start(
      Shell shell, Progress progress, LongSupplier nanoClock, boolean wanted) {
    ProgressLine line = new ProgressLine(shell, progress, nanoClock);
    if (wanted) {
      line.thread.start();
    }
    return line;
  }

  private void show() {
    try {
      while (true) {
        Thread.sleep(shell.errIsTerminal() ? ON_A_TERMINAL : ELSEWHERE);
        if (progress.total() > 0) {
          long now = nanoClock.getAsLong();
          begun = begun < 0 ? now : begun;
          String line = words(progress, Duration.ofNanos(now - begun));
          if (shell.errIsTerminal()) {
            shell.err().print(ERASE + line);
            shell.err().flush();
          } else {
            shell.err().println(line);
          }
        }
      }
    } catch (InterruptedException _) {
      // The run has ended.
    }
  }

  /** Such as {@code 12 of 64, 8 under way, 3.2 req/s, 410 tok/s, 16 s left}. */
  static String words(Progress progress, Duration since) {
    int done = progress.done();
    StringBuilder line = new StringBuilder();
    line.append(done).append(" of ").append(progress.total());
    if (progress.failed() > 0) {
      line.append(" (").append(progress.failed()).append(" failed)");
    }
    line.append(", ").append(Math.max(0, progress.sent() - done)).append(" under way");
    double seconds = since.toMillis() / 1e3;
    if (done > 0 && seconds > 0) {
      double rate = done / seconds;
      line.append(
          String.format(
              Locale.ROOT, ", %.1f req/s, %.0f tok/s", rate, progress.outputTokens() / seconds));
      line.append(", ").append(left((progress.total() - done) / rate)).append(" left");
    }
    return line.toString();
  }

  private static String left(double seconds) {
    long whole = Math.round(seconds);
    return whole < 120 ? whole + " s" : whole < 7200 ? whole / 60 + " min" : whole / 3600 + " h";
  }

  @Override
  public void close() {
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    if (begun >= 0 && shell.errIsTerminal()) {
      shell.err().print(ERASE);
      shell.err().flush();
    }
  }
}
