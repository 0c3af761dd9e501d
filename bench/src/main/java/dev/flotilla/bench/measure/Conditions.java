package dev.flotilla.bench.measure;

import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * What is known of a run's surroundings.
 *
 * @param slots requests that the server can work on at once, where it says; all workers' together
 * @param slotsFrom who says so, such as {@code llama-server's /props}; empty where nobody does
 * @param clientCpuShare CPU time that the client itself used during the run, over the run's length
 *     and the number of this machine's processors: 0 to 1
 */
public record Conditions(OptionalInt slots, String slotsFrom, OptionalDouble clientCpuShare) {
  /** Nothing is known. */
  public static final Conditions UNKNOWN =
      new Conditions(OptionalInt.empty(), "", OptionalDouble.empty());
}
