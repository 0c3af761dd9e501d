package dev.flotilla.bench.report;

import dev.flotilla.bench.measure.Result;
import dev.flotilla.bench.measure.Sweep;
import java.util.List;

/** What a file of results holds. */
public sealed interface Saved {

  /** Runs: one, or as many as were appended. */
  record Runs(List<Result> results) implements Saved {
    public Runs {
      results = List.copyOf(results);
    }
  }

  /** A sweep. */
  record Swept(Sweep sweep) implements Saved {}
}
