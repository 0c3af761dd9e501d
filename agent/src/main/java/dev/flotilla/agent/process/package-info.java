/** Supervision of engine processes: start, readiness, restart with growing pauses, stop. */
@NullMarked
package dev.flotilla.agent.process;

import org.jspecify.annotations.NullMarked;
