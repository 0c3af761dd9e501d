package dev.flotilla.bench.dataset;

import java.util.SplittableRandom;

/** Generators for the parts of a dataset, each with numbers of its own. */
final class Seeds {
  private Seeds() {}

  /**
   * The generator of part {@code number}. Seeds are mixed well before use: a {@link
   * SplittableRandom} goes through its seeds by a constant step, so that two of related seeds give
   * the same numbers, shifted.
   */
  static SplittableRandom generator(long seed, long number) {
    return new SplittableRandom(mixed(seed + mixed(number)));
  }

  /** Stafford's variant 13 of the finalizer of MurmurHash3, after a step off zero. */
  private static long mixed(long value) {
    long z = value + 0xD1B54A32D192ED03L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
