/** The commands that run a hub, an agent, or both, until they are told to stop. */
@NullMarked
package dev.flotilla.cli.serve;

import org.jspecify.annotations.NullMarked;
