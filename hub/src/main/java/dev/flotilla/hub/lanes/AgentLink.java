package dev.flotilla.hub.lanes;

import dev.flotilla.wire.lanes.ControlMessage;

/** One control lane, as the fleet sees it. Both calls return at once, from any thread. */
public interface AgentLink {

  /** The node's name, proved by its credential. */
  String node();

  /** Puts a message into the lane's outbox; a full outbox cuts the lane. */
  void send(ControlMessage.FromHub message);

  /** Ends the lane; {@link AgentDesk#ended} follows, on the lane's own thread. */
  void cut(String why);
}
