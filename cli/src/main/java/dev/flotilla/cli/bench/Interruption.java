package dev.flotilla.cli.bench;

import dev.flotilla.cli.output.Shell;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Ctrl-C and TERM while a benchmark goes. Listens from {@link #listen} to {@link #close}.
 *
 * <p>Until {@link #ends} there is nothing to keep: models are asked for, prompts are counted, files
 * are fetched. A signal then is answered with one line, and the process ends at once. From {@link
 * #ends} on something is measured: it is told to end, and the JVM is held until its results so far
 * are printed, or until {@link #LIMIT} is over. Either way the exit code is {@link #CODE}.
 *
 * <p>Invariants: a signal is answered in one of the two ways, once; whoever measures is told at
 * most once, from another thread.
 */
final class Interruption implements AutoCloseable {
  /** As shells have it for what Ctrl-C ended. */
  static final int CODE = 130;

  static final String NOTHING =
      "flotilla: ended before the load began: nothing was measured and nothing was written";

  /** Requests under way are cut at once; what is left is to write results. */
  private static final Duration LIMIT = Duration.ofSeconds(20);

  /** What the command has left to do after its results are printed is to end. */
  private static final Duration END_LIMIT = Duration.ofSeconds(5);

  private final Shell shell;
  private final CountDownLatch over = new CountDownLatch(1);
  private final Thread hook = Thread.ofPlatform().name("interrupt").unstarted(this::come);
  private @Nullable Runnable measured;
  private boolean happened;

  private Interruption(Shell shell) {
    this.shell = shell;
  }

  /** Listens from now on; there is nothing yet that would have to end in good order. */
  static Interruption listen(Shell shell) {
    Interruption interruption = new Interruption(shell);
    Runtime.getRuntime().addShutdownHook(interruption.hook);
    return interruption;
  }

  /**
   * From now on something is measured.
   *
   * @param end ends the measurement; called at most once, from another thread
   */
  synchronized void ends(Runnable end) {
    measured = end;
  }

  /** Whether the signal has come. */
  synchronized boolean happened() {
    return happened;
  }

  private void come() {
    tellOrEnd().run();
    try {
      over.await(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
      // The command's own end carries the code; the system's, after a TERM, would say another one.
      Thread.sleep(END_LIMIT);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    Runtime.getRuntime().halt(CODE);
  }

  /** While it is held nobody begins to measure. */
  private synchronized Runnable tellOrEnd() {
    happened = true;
    Runnable end = measured;
    if (end != null) {
      return end;
    }
    shell.err().println(NOTHING);
    shell.err().flush();
    Runtime.getRuntime().halt(CODE);
    throw new IllegalStateException("the JVM has ended");
  }

  @Override
  public void close() {
    over.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException _) {
      // The JVM is ending already: this was the signal.
    }
  }
}
