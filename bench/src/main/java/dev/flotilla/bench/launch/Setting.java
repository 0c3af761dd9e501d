package dev.flotilla.bench.launch;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * How an engine is to be started.
 *
 * @param model what it is to serve: a file or a name, as the engine's command line takes it
 * @param slots requests that it runs at once
 * @param contextTokens tokens of one request, prompt and answer together
 * @param threads processor threads; empty where the engine decides
 * @param cores the processors that it may use, as {@code taskset --cpu-list} takes them; empty for
 *     all
 */
public record Setting(
    String model, int slots, int contextTokens, OptionalInt threads, Optional<String> cores) {

  public Setting {
    if (slots < 1 || contextTokens < 1) {
      throw new IllegalArgumentException("an engine has at least one slot, and one token");
    }
  }

  public Setting withSlots(int count) {
    return new Setting(model, count, contextTokens, threads, cores);
  }

  public Setting withCores(Optional<String> list) {
    return new Setting(model, slots, contextTokens, threads, list);
  }
}
