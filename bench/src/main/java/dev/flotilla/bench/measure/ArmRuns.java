package dev.flotilla.bench.measure;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What one arm of an experiment did: a way to serve, under the load that all arms get.
 *
 * @param name such as {@code A}
 * @param words what it is, such as {@code one worker}
 * @param runs the repeats that count, at least one
 * @param served which target served how many requests of all of them, as counted upstream; empty
 *     where nobody counted
 */
public record ArmRuns(String name, String words, List<Result> runs, Map<String, Long> served) {

  public ArmRuns {
    if (runs.isEmpty()) {
      throw new IllegalArgumentException("arm " + name + " has no run");
    }
    runs = List.copyOf(runs);
    served = Map.copyOf(served);
  }

  /** Whether its repeats contradict each other, so that their median says little. */
  public boolean contradicts() {
    return RepeatGuards.contradiction(runs).isPresent();
  }

  /** What a reader must know of the repeats together, and of each. */
  public List<Finding> findings() {
    return Stream.concat(
            RepeatGuards.contradiction(runs).stream(),
            runs.stream().flatMap(run -> run.findings().stream()))
        .toList();
  }
}
