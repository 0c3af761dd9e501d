package dev.flotilla.bench.measure;

import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * One concurrency of a sweep.
 *
 * @param concurrency requests under way at once
 * @param runs the repeats that count, at least one; a first run that was discarded is none
 */
public record Level(int concurrency, List<Result> runs) {

  public Level {
    if (concurrency < 1 || runs.isEmpty()) {
      throw new IllegalArgumentException("a level has a concurrency of 1 or more, and a run");
    }
    runs = List.copyOf(runs);
  }

  /** A figure over the repeats. */
  public Spread spread(ToDoubleFunction<Summary> figure) {
    return Spread.of(runs.stream().map(run -> figure.applyAsDouble(run.summary())).toList());
  }

  /** What is wrong with the repeats where they contradict each other. */
  public Optional<Finding> contradiction() {
    return RepeatGuards.contradiction(runs);
  }

  /** What a reader must know of the repeats together, and of each. */
  public List<Finding> findings() {
    return Stream.concat(
            contradiction().stream(), runs.stream().flatMap(run -> run.findings().stream()))
        .toList();
  }

  /** Requests that failed, in all repeats together. */
  public int failed() {
    return runs.stream().mapToInt(run -> run.summary().failed()).sum();
  }
}
