/** What a process does to itself. */
@NullMarked
package dev.flotilla.wire.process;

import org.jspecify.annotations.NullMarked;
