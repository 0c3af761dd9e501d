package dev.flotilla.engine;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.DoubleAdder;

/** Counts of observed values by upper bound. Written by the engine's thread, read by any. */
public final class Histogram {
  private final double[] bounds;
  private final AtomicLongArray counts;
  private final DoubleAdder sum = new DoubleAdder();

  Histogram(double... bounds) {
    this.bounds = bounds.clone();
    counts = new AtomicLongArray(bounds.length + 1);
  }

  void observe(double value) {
    int place = 0;
    while (place < bounds.length && value > bounds[place]) {
      place++;
    }
    counts.getAndIncrement(place);
    sum.add(value);
  }

  /** How many bounds there are; what is over the last one is counted too. */
  public int bounds() {
    return bounds.length;
  }

  /** An upper bound, which belongs to its own range. */
  public double bound(int place) {
    return bounds[place];
  }

  /** How many values were up to a bound; for place {@link #bounds} all. */
  public long upTo(int place) {
    long count = 0;
    for (int i = 0; i <= place; i++) {
      count += counts.get(i);
    }
    return count;
  }

  /** The sum of all values. */
  public double sum() {
    return sum.sum();
  }
}
