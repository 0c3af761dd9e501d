package dev.flotilla.agent.models;

import dev.flotilla.agent.engine.ProgressListener;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Says how far one fetch is, at most four times a second, except that every new step is said at
 * once. One thread at a time.
 */
final class Steps {
  private static final long GAP_NANOS = Duration.ofMillis(250).toNanos();

  private final String subject;
  private final ProgressListener listener;
  private final LongSupplier nanos;
  private String lastStep = "";
  private long lastSaidNanos;

  Steps(String subject, ProgressListener listener, LongSupplier nanos) {
    this.subject = subject;
    this.listener = listener;
    this.nanos = nanos;
  }

  /**
   * @param total -1 where unknown
   */
  void at(String step, long done, long total) {
    long now = nanos.getAsLong();
    if (step.equals(lastStep) && done != total && now - lastSaidNanos < GAP_NANOS) {
      return;
    }
    lastStep = step;
    lastSaidNanos = now;
    listener.progress(subject, step, done, total, false);
  }

  /** The last word on this subject. */
  void finished(String step, long bytes) {
    listener.progress(subject, step, bytes, bytes, true);
  }
}
