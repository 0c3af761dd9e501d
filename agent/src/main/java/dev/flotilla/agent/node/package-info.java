/** What this machine is: cores, memory, accelerators, engines found. */
@NullMarked
package dev.flotilla.agent.node;

import org.jspecify.annotations.NullMarked;
