package dev.flotilla.bench.load;

import java.time.Duration;
import java.time.InstantSource;
import java.util.function.LongSupplier;

/**
 * The clocks of a run.
 *
 * @param nanos monotonic
 * @param calendar for the report
 * @param cpuNanos processor time that this process has taken
 */
public record Clocks(LongSupplier nanos, InstantSource calendar, LongSupplier cpuNanos) {

  /** The machine's own. */
  public static final Clocks SYSTEM =
      new Clocks(System::nanoTime, InstantSource.system(), Clocks::processCpuNanos);

  private static long processCpuNanos() {
    return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
  }
}
