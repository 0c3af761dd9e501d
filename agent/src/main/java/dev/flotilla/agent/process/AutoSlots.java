package dev.flotilla.agent.process;

import dev.flotilla.wire.fleet.WorkerSpec;
import java.util.function.Predicate;

/** How many slots a worker is started with whose recipe leaves that open. */
final class AutoSlots {
  private AutoSlots() {}

  /**
   * The worker with a number of slots: as wanted where the recipe names one, else the most that
   * have room, {@value WorkerSpec#AUTO_SLOTS_MAX} at most. Where not even one has room it is one,
   * and the launch says what is missing.
   */
  static WorkerSpec decided(WorkerSpec wanted, Predicate<WorkerSpec> fits) {
    if (wanted.slots() != WorkerSpec.AUTO_SLOTS) {
      return wanted;
    }
    int slots = WorkerSpec.AUTO_SLOTS_MAX;
    while (slots > 1 && !fits.test(wanted.withSlots(slots))) {
      slots--;
    }
    return wanted.withSlots(slots);
  }
}
