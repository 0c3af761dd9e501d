package dev.flotilla.bench.load;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Delays, counted in buckets: sixteen for each doubling, so that a percentile is at most a
 * sixteenth too high, for a run of any length in 8 KiB. Safe for any number of threads.
 */
final class LagHistogram {
  private static final int STEPS = 16;
  private static final int STEP_BITS = 4;

  private final AtomicLongArray counts = new AtomicLongArray(64 * STEPS);
  private final AtomicLong max = new AtomicLong();

  void add(long nanos) {
    long lag = Math.max(0, nanos);
    counts.incrementAndGet(bucket(lag));
    max.accumulateAndGet(lag, Math::max);
  }

  long max() {
    return max.get();
  }

  /** The nearest-rank percentile, as the upper end of its bucket; 0 where nothing was added. */
  long percentile(double share) {
    long total = 0;
    for (int i = 0; i < counts.length(); i++) {
      total += counts.get(i);
    }
    long rank = (long) Math.ceil(share * total);
    long seen = 0;
    for (int i = 0; i < counts.length() && rank > 0; i++) {
      seen += counts.get(i);
      if (seen >= rank) {
        return Math.min(upper(i), max());
      }
    }
    return 0;
  }

  static int bucket(long nanos) {
    if (nanos < STEPS) {
      return (int) nanos;
    }
    int exponent = 63 - Long.numberOfLeadingZeros(nanos);
    int step = (int) (nanos >> (exponent - STEP_BITS)) - STEPS;
    return (exponent - STEP_BITS + 1) * STEPS + step;
  }

  private static long upper(int bucket) {
    if (bucket < STEPS) {
      return bucket;
    }
    int shift = bucket / STEPS - 1;
    return ((long) (bucket % STEPS + STEPS + 1) << shift) - 1;
  }
}
