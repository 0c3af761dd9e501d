package dev.flotilla.agent;

import dev.flotilla.agent.lanes.Workers;
import dev.flotilla.agent.process.ModelFiles;
import dev.flotilla.agent.process.SupervisorListener;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.NodeFacts.EngineFacts;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;

/** What starts, watches and ends the engines of a node, as the agent drives it. */
public interface Supervision extends Workers, AutoCloseable {

  /** Stops every engine; returns within seconds, when none is left. */
  @Override
  void close();

  /** Makes the supervision of one agent. */
  interface Source {

    /** Engines that this machine can start without installing anything. */
    List<EngineFacts> engines();

    /**
     * Begins, with nothing desired yet.
     *
     * @throws AgentRefused where this home can't be supervised
     */
    Supervision start(Surroundings surroundings) throws AgentRefused;
  }

  /**
   * What supervision has of the agent around it.
   *
   * @param node the node's name in the fleet
   * @param facts the machine, its memory as it is now; cheap
   */
  record Surroundings(
      Path home,
      String node,
      ModelFiles models,
      Supplier<NodeFacts> facts,
      SupervisorListener listener) {}
}
