/**
 * The experiment of the three arms: one worker, the same machine with two slots, and two machines,
 * under the same load.
 */
@NullMarked
package dev.flotilla.bench.arms;

import org.jspecify.annotations.NullMarked;
