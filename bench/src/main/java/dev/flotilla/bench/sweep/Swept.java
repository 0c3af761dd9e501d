package dev.flotilla.bench.sweep;

import dev.flotilla.bench.launch.MemorySampler.Memory;
import dev.flotilla.bench.measure.Sweep;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a sweep of one server gave.
 *
 * @param sweep its figures; absent where it ended before any run that counts
 * @param version what the server says of its version
 * @param commandLine how it was started, without secrets; empty where it was there already
 * @param readyAfter the longest of its starts
 * @param memory of the server by concurrency, the most over the repeats; absent where unknown
 * @param stopped whether it was ended by a person
 * @param trouble why it ended before its plan did, beside that: one sentence
 */
public record Swept(
    Optional<Sweep> sweep,
    String version,
    List<String> commandLine,
    Optional<Duration> readyAfter,
    Map<Integer, Memory> memory,
    boolean stopped,
    Optional<String> trouble) {

  public Swept {
    commandLine = List.copyOf(commandLine);
    memory = Map.copyOf(memory);
  }
}
