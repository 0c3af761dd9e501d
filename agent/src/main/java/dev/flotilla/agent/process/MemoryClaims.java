package dev.flotilla.agent.process;

import dev.flotilla.agent.engine.EngineAdapter.MemoryNeed;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongUnaryOperator;

/**
 * What running workers were granted. An engine takes its memory bit by bit, so what is free just
 * after its start says too much: the part of its grant that it has not touched is still its own. Of
 * a graphics processor's memory nobody says how much a process has touched; there a grant counts
 * until the engine is ready, since it takes all that it will take before that.
 *
 * <p>Invariant: a worker has at most one claim, from before its process starts until after it has
 * ended.
 */
final class MemoryClaims {
  /**
   * @param acceleratorBytes of graphics processors, 0 once they are taken
   */
  private record Claim(long pid, long bytes, long acceleratorBytes) {}

  private final Map<String, Claim> claims = new HashMap<>();
  private final LongUnaryOperator touchedBytes;

  /**
   * @param touchedBytes from a process id to the memory that it has taken
   */
  MemoryClaims(LongUnaryOperator touchedBytes) {
    this.touchedBytes = touchedBytes;
  }

  /** Grants a process what it needs where it has room. */
  synchronized void claim(String worker, long pid, MemoryRoom room, MemoryNeed need) {
    claims.put(
        worker,
        room.accelerator()
            ? new Claim(pid, need.workingBytes(), need.totalBytes())
            : new Claim(pid, need.totalBytes(), 0));
  }

  /** The engine is ready. */
  synchronized void settle(String worker) {
    claims.computeIfPresent(worker, (id, claim) -> new Claim(claim.pid, claim.bytes, 0));
  }

  synchronized void release(String worker) {
    claims.remove(worker);
  }

  synchronized long untouchedBytes(boolean accelerator) {
    return claims.values().stream()
        .mapToLong(claim ->
            accelerator
                ? claim.acceleratorBytes
                : Math.max(0, claim.bytes - touchedBytes.applyAsLong(claim.pid)))
        .sum();
  }

  /** Why a worker does not fit here beside what others were granted, empty where it does. */
  Optional<String> shortage(MemoryNeed need, MemoryRoom room, double fraction) {
    Optional<String> missing =
        shortage(need, room.availableBytes(), untouchedBytes(room.accelerator()), fraction);
    return room.accelerator()
        ? missing.map(why -> why + " (This is the memory of the graphics processor.)")
        : missing;
  }

  /**
   * Why a worker does not fit, empty where it does.
   *
   * @param available free plus inactive memory
   * @param untouched what others were granted and have not touched
   * @param fraction share of the available memory that may be used
   */
  static Optional<String> shortage(
      MemoryNeed need, long available, long untouched, double fraction) {
    long usable = Math.max(0, (long) (available * fraction) - untouched);
    if (need.totalBytes() <= usable) {
      return Optional.empty();
    }
    return Optional.of(
        "It needs %s (weights %s, cache %s, working memory %s), %s may be used of %s free%s: %s are missing."
            .formatted(
                gib(need.totalBytes()),
                gib(need.weightBytes()),
                gib(need.cacheBytes()),
                gib(need.workingBytes()),
                gib(usable),
                gib(available),
                untouched > 0 ? " (others were granted %s more)".formatted(gib(untouched)) : "",
                gib(need.totalBytes() - usable)));
  }

  private static String gib(long bytes) {
    return String.format(Locale.ROOT, "%.2f GiB", bytes / (double) (1L << 30));
  }
}
