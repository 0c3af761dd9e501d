package dev.flotilla.bench.arms;

import dev.flotilla.bench.measure.Finding;
import dev.flotilla.bench.measure.Result;
import java.util.List;
import java.util.Map;

/**
 * What one arm gave.
 *
 * @param runs that count, in their order
 * @param upstream what each target counted during them, summed
 * @param findings what a reader must know of them beside what the runs say themselves
 */
public record ArmOutcome(
    Arm arm, List<Result> runs, Map<String, ServerCounters> upstream, List<Finding> findings) {

  public ArmOutcome {
    runs = List.copyOf(runs);
    upstream = Map.copyOf(upstream);
    findings = List.copyOf(findings);
  }
}
