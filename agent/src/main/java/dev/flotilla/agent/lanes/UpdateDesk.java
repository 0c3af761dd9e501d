package dev.flotilla.agent.lanes;

import dev.flotilla.wire.lanes.ControlMessage.UpdateOffered;

/** Hears what the control lane has for whoever replaces this agent. Every call returns at once. */
public interface UpdateDesk {

  /** The hub took this agent in. */
  void welcomed();

  /** The hub has a version for it. */
  void offered(UpdateOffered offer);

  /** Nothing runs here any more: that version may take over. */
  void now(String version);

  /** The session is over, and with it what was arranged in it. */
  void parted();
}
