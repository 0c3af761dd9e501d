/** Releases of flotilla: made, signed, offered to a fleet's agents. */
@NullMarked
package dev.flotilla.cli.update;

import org.jspecify.annotations.NullMarked;
