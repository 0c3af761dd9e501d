/**
 * The {@code flotilla} command: finds out what is asked, assembles the parts, answers with an exit
 * code.
 */
@NullMarked
package dev.flotilla.cli;

import org.jspecify.annotations.NullMarked;
