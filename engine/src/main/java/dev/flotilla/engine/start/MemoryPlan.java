package dev.flotilla.engine.start;

import dev.flotilla.engine.model.KvLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * How the budget is divided: what weights and process take is measured, and of what is left the
 * cache gets as much as all sequences can hold at full length.
 *
 * <p>Pure arithmetic: {@link #lines} shows every term, so that it can be checked by hand.
 *
 * @param weights bytes of the repacked weights
 * @param process all else that is not the cache
 * @param block bytes of one block of the cache, in all layers
 * @param blocks blocks of the cache
 * @param context tokens of one request, prompt and answer together
 * @param slots requests that run at once at most
 */
record MemoryPlan(
    Budget budget,
    long weights,
    ProcessMemory process,
    long block,
    int blocks,
    int context,
    int slots) {

  /** Fewest tokens of a request for which it is worth to start. */
  static final int CONTEXT_MIN = 256;

  /**
   * Divides the budget.
   *
   * @throws StartRefused where not even one request of full length would fit, with the largest
   *     setting that would
   */
  static MemoryPlan of(
      Budget budget, long weights, ProcessMemory process, long block, int context, int slots)
      throws StartRefused {
    long left = budget.bytes() - weights - process.bytes();
    int each = KvLayout.blocksFor(context);
    long blocks = Math.min(Math.max(0, left) / block, (long) each * slots);
    if (blocks >= each) {
      return new MemoryPlan(budget, weights, process, block, (int) blocks, context, slots);
    }
    long needed = weights + process.bytes() + each * block;
    String start =
        "%s (%s) are too little: weights take %s, the process %s and one request of %,d tokens %s,"
                .formatted(
                    mib(budget.bytes()),
                    budget.words(),
                    mib(weights),
                    mib(process.bytes()),
                    context,
                    mib(each * block))
            + " together "
            + mib(needed);
    int largest = (int) blocks * KvLayout.PAGE_TOKENS;
    throw new StartRefused(
        largest >= CONTEXT_MIN
            ? start + ". The largest context that fits is --context " + largest
            : start
                + ". Not even "
                + CONTEXT_MIN
                + " tokens fit: give it more with --memory "
                + Math.ceilDiv(needed, 1 << 20)
                + "M, or take a smaller model");
  }

  /** Bytes of the cache. */
  long cache() {
    return blocks * block;
  }

  /** Bytes that the process will take, whatever is asked of it. */
  long total() {
    return weights + process.bytes() + cache();
  }

  /** The arithmetic, a term a line. */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add(line("budget", budget.bytes(), budget.words()));
    lines.add(line("- weights", weights, "repacked; the file is not mapped any more"));
    lines.add(
        line(
            "- heap",
            process.heap(),
            "fixed and touched; in use after steps of the largest shape: "
                + mib(process.heapUsed())));
    lines.add(
        line(
            "- code cache",
            process.codeCache(),
            "measured, and " + mib(ProcessMemory.CODE_GROWTH) + " to grow"));
    lines.add(line("- metaspace", process.metaspace(), "classes, measured"));
    lines.add(line("- stacks", process.stacks(), "of the threads"));
    lines.add(
        line(
            "- compiler, JVM",
            process.rest(),
            "measured, and " + mib(ProcessMemory.COMPILER_GROWTH) + " to grow"));
    lines.add(
        line("= left for cache", budget.bytes() - weights - process.bytes(), "keys and values"));
    lines.add(
        line(
            "  cache",
            cache(),
            "%,d blocks of %,d bytes: %,d tokens, %.1f requests of %,d tokens; %d at once at most"
                .formatted(
                    blocks,
                    block,
                    blocks * KvLayout.PAGE_TOKENS,
                    blocks / (double) KvLayout.blocksFor(context),
                    context,
                    slots)));
    lines.add(line("will take", total(), "resident, under any load"));
    return lines;
  }

  private static String line(String what, long bytes, String why) {
    return String.format(Locale.ROOT, "%-17s %12s   %s", what, mib(bytes), why);
  }

  static String mib(long bytes) {
    return String.format(Locale.ROOT, "%,.1f MiB", bytes / (double) (1 << 20));
  }
}
