/** The engine as a process: what memory it takes, and everything made in the order of need. */
@NullMarked
package dev.flotilla.engine.start;

import org.jspecify.annotations.NullMarked;
