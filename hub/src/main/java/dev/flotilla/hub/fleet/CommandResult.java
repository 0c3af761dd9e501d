package dev.flotilla.hub.fleet;

import java.util.List;

/** What came of a command by hand. */
public sealed interface CommandResult {

  /**
   * It is so now, or on its way.
   *
   * @param message one sentence for the person
   * @param workers the workers that it is about
   */
  record Done(String message, List<String> workers) implements CommandResult {
    public Done {
      workers = List.copyOf(workers);
    }
  }

  /**
   * Neither a worker nor a node has this name.
   *
   * @param nearest names that exist and look like it, best first
   */
  record Unknown(String name, List<String> nearest) implements CommandResult {
    public Unknown {
      nearest = List.copyOf(nearest);
    }
  }

  /**
   * Not possible now.
   *
   * @param why one sentence
   */
  record Refused(String why) implements CommandResult {}
}
