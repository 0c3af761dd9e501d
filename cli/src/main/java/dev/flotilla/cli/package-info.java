/** The flotilla command: assembles everything. */
@NullMarked
package dev.flotilla.cli;

import org.jspecify.annotations.NullMarked;
