package dev.flotilla.bench.launch;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Looks at a server's memory while a run goes, on a thread of its own, until it is {@linkplain
 * #stop stopped}.
 */
public final class MemorySampler implements AutoCloseable {
  /** Pause between two looks. */
  public static final Duration EVERY = Duration.ofMillis(250);

  private final LongSupplier residentBytes;
  private final Duration every;
  private final Thread thread;
  private long peak;
  private double sum;
  private int samples;

  private MemorySampler(LongSupplier residentBytes, Duration every) {
    this.residentBytes = residentBytes;
    this.every = every;
    this.thread = Thread.ofVirtual().name("memory-sampler").unstarted(this::sample);
  }

  /**
   * What was seen.
   *
   * @param peakBytes the most at any look
   * @param meanBytes the mean over the looks
   * @param samples how many looks; none where nobody knows the server's memory
   */
  public record Memory(long peakBytes, long meanBytes, int samples) {
    public static final Memory UNKNOWN = new Memory(0, 0, 0);

    public boolean known() {
      return samples > 0;
    }
  }

  /**
   * Begins to look.
   *
   * @param residentBytes the server's memory now; 0 where nobody knows
   */
  public static MemorySampler start(LongSupplier residentBytes, Duration every) {
    MemorySampler sampler = new MemorySampler(residentBytes, every);
    sampler.thread.start();
    return sampler;
  }

  private void sample() {
    try {
      while (true) {
        look();
        Thread.sleep(every);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void look() {
    long bytes = residentBytes.getAsLong();
    if (bytes <= 0) {
      return;
    }
    synchronized (this) {
      peak = Math.max(peak, bytes);
      sum += bytes;
      samples++;
    }
  }

  /** Looks a last time, and tells what was seen; no more looks follow. */
  public Memory stop() {
    thread.interrupt();
    look();
    synchronized (this) {
      return samples == 0 ? Memory.UNKNOWN : new Memory(peak, (long) (sum / samples), samples);
    }
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
