package dev.flotilla.testkit.real;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A process that a test started, with all that it has started: {@link #close} leaves none of it. A
 * process whose parent has ended is nobody's child any more, so what there is has to be {@linkplain
 * #started looked at} before.
 */
public final class ProcessTree implements AutoCloseable {
  private final Process process;
  private final Duration limit;
  private final Set<ProcessHandle> started = new LinkedHashSet<>();

  /**
   * @param limit how long it has to end by itself once it is asked to
   */
  public ProcessTree(Process process, Duration limit) {
    this.process = process;
    this.limit = limit;
  }

  /** All that it has started up to now and was seen here, what has ended among it. */
  public List<ProcessHandle> started() {
    process.descendants().forEach(started::add);
    return List.copyOf(started);
  }

  /** Asks it to end, and ends what is left after the limit. */
  @Override
  public void close() {
    started();
    process.destroy();
    try {
      if (!process.waitFor(limit.toSeconds(), TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    started.forEach(ProcessHandle::destroyForcibly);
  }
}
