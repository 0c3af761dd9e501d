package dev.flotilla.hub.api;

import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.hub.store.StoreFailed;
import java.util.List;

/** The configuration in force, and the one way to change it. */
public interface Configuration {

  /** What is in force; empty lists before the first revision. */
  FleetSpec spec();

  /** Number of the revision in force, 0 before the first. */
  long revision();

  /**
   * Validates a whole file; unless {@code dryRun}, stores it as a revision and puts it in force. A
   * file that is not in order changes nothing.
   *
   * @param by who asks, for the revision and the event
   */
  Outcome apply(String yaml, String by, boolean dryRun) throws StoreFailed;

  /** What came of it. */
  sealed interface Outcome {

    /**
     * In order.
     *
     * @param revision the one in force now
     * @param changes one line for each difference, with {@code +}, {@code -} or {@code ~} in front;
     *     empty where nothing differs
     */
    record Accepted(long revision, List<String> changes) implements Outcome {
      public Accepted {
        changes = List.copyOf(changes);
      }
    }

    /**
     * Not in order.
     *
     * @param problems one sentence each, with line and column
     */
    record Rejected(List<String> problems) implements Outcome {
      public Rejected {
        problems = List.copyOf(problems);
      }
    }
  }
}
