/**
 * Servers under test: started here afresh for each run, or reached where they are; and how much
 * memory they take. How a process is started and ended is given from outside.
 */
@NullMarked
package dev.flotilla.bench.launch;

import org.jspecify.annotations.NullMarked;
