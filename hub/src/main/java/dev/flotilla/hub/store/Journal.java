package dev.flotilla.hub.store;

import dev.flotilla.wire.lanes.ControlMessage.Severity;

/**
 * Where the hub's parts put what need not be waited for: both calls only enqueue, never block and
 * never throw. What a full queue drops is counted.
 */
public interface Journal {
  void usage(Usage usage);

  void event(Severity severity, String kind, String subject, String message);
}
