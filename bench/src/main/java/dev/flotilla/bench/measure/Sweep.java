package dev.flotilla.bench.measure;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The same load at several concurrencies.
 *
 * @param load what is the same at all levels; its {@code maxConcurrency} and {@code prompts} say
 *     nothing here
 * @param startedAt by the calendar
 * @param levels by rising concurrency, each once
 * @param findings what a reader must know, beside what the levels' own runs found
 */
public record Sweep(Load load, Instant startedAt, List<Level> levels, List<Finding> findings) {

  public Sweep {
    levels = levels.stream().sorted(Comparator.comparingInt(Level::concurrency)).toList();
    if (levels.stream().map(Level::concurrency).distinct().count() != levels.size()) {
      throw new IllegalArgumentException("a sweep has each concurrency once");
    }
    findings = List.copyOf(findings);
  }

  /** From which level on more concurrency buys little; absent with fewer than two levels. */
  public Optional<Knee> knee() {
    return Knee.of(levels);
  }

  /** The knee as people read it, and which levels it was drawn without. */
  public Optional<String> kneeWords() {
    String left =
        levels.stream()
            .filter(level -> level.contradiction().isPresent())
            .map(level -> String.valueOf(level.concurrency()))
            .collect(Collectors.joining(", "));
    if (left.isEmpty()) {
      return knee().map(Knee::words);
    }
    return Optional.of(
        knee()
            .map(knee ->
                knee.words()
                    + "; drawn without concurrency "
                    + left
                    + ", where runs contradict each other")
            .orElse("not known: runs contradict each other at concurrency " + left));
  }

  /** Whether some finding says that the numbers mislead: then the exit code is 1. */
  public boolean misleads() {
    return findings.stream().anyMatch(Finding::misleads)
        || levels.stream().flatMap(level -> level.findings().stream()).anyMatch(Finding::misleads);
  }
}
