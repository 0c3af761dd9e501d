package dev.flotilla.agent;

import dev.flotilla.agent.lanes.ControlLane;
import dev.flotilla.agent.process.SupervisorListener;

/**
 * Hears everything that the agent also tells its hub, and how the hub is reached; for a terminal to
 * print. Called on the threads that work, so every call returns at once and never throws.
 */
public interface AgentListener extends SupervisorListener, ControlLane.Listener {}
