package dev.flotilla.agent.lanes;

import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.lanes.ControlMessage;
import java.util.List;

/** The workers of this node, as the lanes see them. Every call returns at once. */
public interface Workers {

  /** Every worker, running or not. */
  List<WorkerReport> reports();

  /** What the hub wants from now on. */
  void desired(ControlMessage.Desired desired);

  /** Stop the worker and start it again; a name that is not known is nothing. */
  void restart(String worker);

  /** Where that launch of that worker listens. */
  EnginePort port(String worker, long generation);

  /** The answer to {@link #port}. */
  sealed interface EnginePort {

    /** It runs, and listens there on the loopback interface. */
    record Live(int port) implements EnginePort {}

    /**
     * There is no such launch now.
     *
     * @param reason one sentence for the hub
     */
    record None(String reason) implements EnginePort {}
  }
}
