/** The commands that ask a running hub, or look at this machine. */
@NullMarked
package dev.flotilla.cli.command;

import org.jspecify.annotations.NullMarked;
