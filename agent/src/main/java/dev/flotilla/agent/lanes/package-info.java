/** The agent's end of the connections to the hub: the control lane and the work lanes. */
@NullMarked
package dev.flotilla.agent.lanes;

import org.jspecify.annotations.NullMarked;
