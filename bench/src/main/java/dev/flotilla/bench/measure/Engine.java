package dev.flotilla.bench.measure;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What one engine did under the load that several get in turn.
 *
 * @param name such as {@code llama-server}
 * @param version as the engine says it
 * @param model what it served
 * @param endpoint where
 * @param startedAt by the calendar
 * @param machine where it ran
 * @param levels by the order in which they were made
 * @param totalSeconds of all levels, with what lay between them
 * @param levelsShareServer whether one start of the engine served all levels: caches were then warm
 */
public record Engine(
    String name,
    Optional<String> version,
    String model,
    String endpoint,
    Instant startedAt,
    Machine machine,
    List<AtConcurrency> levels,
    double totalSeconds,
    boolean levelsShareServer) {

  public Engine {
    levels = List.copyOf(levels);
  }

  /** A machine, in the words of its system. */
  public record Machine(String host, String chip, String os) {}

  /**
   * One concurrency.
   *
   * @param requests how many were to be made
   * @param result what came of them; absent where there was no server to make them to
   * @param peakBytes memory of the engine at most; absent where nobody could look
   * @param contradiction what is wrong with its repeats where they contradict each other; the
   *     result is then of the one in the middle
   * @param error why there is no result, such as {@code not started: …}; empty where there is one
   */
  public record AtConcurrency(
      int concurrency,
      int requests,
      Optional<Result> result,
      OptionalLong peakBytes,
      Optional<Finding> contradiction,
      String error) {

    /** What a reader must know of it. */
    public List<Finding> findings() {
      List<Finding> findings = new ArrayList<>(contradiction.stream().toList());
      result.map(Result::findings).ifPresent(findings::addAll);
      return findings;
    }

    /** Whether nothing succeeded. */
    public boolean crashed() {
      return result.map(r -> r.summary().own().silicon().successful() == 0).orElse(true);
    }
  }
}
