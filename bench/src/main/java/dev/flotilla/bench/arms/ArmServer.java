package dev.flotilla.bench.arms;

import dev.flotilla.bench.launch.StartedEngine;
import java.util.Map;

/**
 * What stands for one arm: a server that answers, and a way to ask its engines what they did.
 *
 * @param engine that requests go to; a hub where there are several machines behind it
 * @param upstream what each target counted until now, by its name; asked before and after each run.
 *     Targets that say nothing are left out
 */
public record ArmServer(StartedEngine engine, Upstream upstream) {

  /** Asks targets for their counters. */
  @FunctionalInterface
  public interface Upstream {
    Map<String, ServerCounters> read();
  }
}
