package dev.flotilla.agent.process;

import dev.flotilla.wire.fleet.EngineFlags;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.NodeFacts.Accelerator;
import dev.flotilla.wire.fleet.WorkerSpec;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/**
 * Memory that a worker finds on this machine, and whose it is.
 *
 * @param availableBytes free now
 * @param accelerator whether it is that of graphics processors, which have their own
 */
public record MemoryRoom(long availableBytes, boolean accelerator) {
  /** Makers whose processors have memory of their own that vllm puts everything into. */
  private static final Set<String> VENDORS = Set.of("nvidia", "amd");

  /** Where a worker finds its memory. Asked before each start; cheap. */
  @FunctionalInterface
  public interface Source {
    MemoryRoom of(WorkerSpec spec);
  }

  /**
   * That of the graphics processors that vllm would take, the ones with the most free, where their
   * driver says how much that is; the machine's own for all else. Pure.
   */
  public static MemoryRoom of(WorkerSpec spec, NodeFacts facts) {
    List<Long> free =
        spec.engine().equals(EngineFlags.VLLM)
            ? facts.accelerators().stream()
                .filter(each -> VENDORS.contains(each.vendor()))
                .filter(each -> each.memoryTotalBytes() > 0 && each.memoryFreeBytes() >= 0)
                .map(Accelerator::memoryFreeBytes)
                .sorted(Comparator.reverseOrder())
                .toList()
            : List.of();
    return free.isEmpty()
        ? new MemoryRoom(facts.memoryAvailableBytes(), false)
        : new MemoryRoom(
            free.stream().limit(processors(spec)).mapToLong(Long::longValue).sum(), true);
  }

  /** How many vllm spreads the model over. */
  private static long processors(WorkerSpec spec) {
    long processors = 1;
    for (String option : List.of("tensor-parallel-size", "pipeline-parallel-size")) {
      String given =
          spec.args().getOrDefault(option, spec.args().getOrDefault(option.replace('-', '_'), "1"));
      processors *= given.matches("[1-9]\\d{0,3}") ? Long.parseLong(given) : 1;
    }
    return processors;
  }
}
