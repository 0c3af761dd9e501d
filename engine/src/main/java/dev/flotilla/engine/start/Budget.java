package dev.flotilla.engine.start;

/**
 * How much memory the engine may take.
 *
 * @param bytes all of it
 * @param words where that number comes from, for people
 */
public record Budget(long bytes, String words) {
  /** Part of what is free that is taken where nothing else was said. */
  public static final double FRACTION_DEFAULT = 0.75;

  /** So many bytes. */
  public static Budget of(long bytes) {
    return new Budget(bytes, "--memory");
  }

  /** A part of what is free now, over 0 to 1. */
  public static Budget ofFree(double fraction) {
    return ofFree(fraction, Machine.availableBytes());
  }

  static Budget ofFree(double fraction, long freeBytes) {
    return new Budget(
        (long) (fraction * freeBytes),
        "--memory-fraction %.2f of %s free".formatted(fraction, MemoryPlan.mib(freeBytes)));
  }
}
