/** The engine as a process. */
@NullMarked
package dev.flotilla.engine.start;

import org.jspecify.annotations.NullMarked;
