package dev.flotilla.bench.measure;

import java.util.List;
import java.util.Map;
import java.util.SortedSet;

/**
 * One run with all that is said of it: what is printed, saved, read back and compared.
 *
 * @param run what was measured; without its requests where it was read from a file that has none
 * @param summary its figures
 * @param findings what a reader must know
 * @param metadata what the user gave along, by name
 */
public record Result(
    Run run, Summary summary, List<Finding> findings, Map<String, String> metadata) {

  public Result {
    findings = List.copyOf(findings);
    metadata = Map.copyOf(metadata);
  }

  /** Figures and findings of a run. */
  public static Result of(
      Run run,
      Goals goals,
      SortedSet<Double> percents,
      Conditions conditions,
      Map<String, String> metadata) {
    Summary summary = Summary.of(run, goals, percents);
    return new Result(run, summary, Guards.findings(run, summary, conditions), metadata);
  }

  /** Whether some finding says that the numbers mislead: then the exit code is 1. */
  public boolean misleads() {
    return findings.stream().anyMatch(Finding::misleads);
  }
}
