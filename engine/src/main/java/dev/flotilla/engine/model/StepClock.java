package dev.flotilla.engine.model;

import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * Where the time of steps goes. A runner that has one calls {@link #passed} behind each of its
 * parts; without one it does not look at the clock. Written by the thread that runs steps.
 */
@SuppressWarnings("EnumOrdinal") // an index into an array of its own, kept nowhere
public final class StepClock {
  /** Parts of a step, each on all threads, waiting for the last of them included. */
  public enum Part {
    /** Embeddings of the step's tokens. */
    EMBED,
    /** Norms, residuals, rotation, keys and values into their pages. */
    ROWS,
    /** Activations made eight bits. */
    QUANTISE,
    /** Products for queries, keys and values. */
    QUERIES,
    /** Attention over pages. */
    ATTENTION,
    /** The product behind attention. */
    ATTENTION_OUT,
    /** Products of the feed-forward part's gate and up, and its gate. */
    FEED_UP,
    /** Its product back. */
    FEED_DOWN,
    /** Products with the vocabulary, for marked rows. */
    LOGITS
  }

  private final long[] nanos = new long[Part.values().length];
  private final LongSupplier clock;
  private long last;

  /** Time by that clock: the wall's, or that of one thread where it is the only one. */
  public StepClock(LongSupplier clock) {
    this.clock = clock;
  }

  /** A step begins. */
  public void begin() {
    last = clock.getAsLong();
  }

  /** What ran since the last call belongs to that part. */
  public void passed(Part part) {
    long now = clock.getAsLong();
    nanos[part.ordinal()] += now - last;
    last = now;
  }

  /** Nanoseconds of a part since the last {@link #clear}. */
  public long nanos(Part part) {
    return nanos[part.ordinal()];
  }

  /** Begins anew. */
  public void clear() {
    Arrays.fill(nanos, 0);
  }
}
