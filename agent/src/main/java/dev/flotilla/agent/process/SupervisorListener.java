package dev.flotilla.agent.process;

import dev.flotilla.agent.engine.ProgressListener;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.lanes.ControlMessage.Happened;

/**
 * Hears what the supervisor does. Calls about one worker come one after another, calls about
 * several at once; each returns soon (the worker's life waits for it) and does not throw.
 */
public interface SupervisorListener extends ProgressListener {

  /** A worker's report changed. The last report of a worker that is no longer wanted is STOPPED. */
  void workerChanged(WorkerReport report);

  /** Something that a person will want to read later. */
  void happened(Happened event);
}
