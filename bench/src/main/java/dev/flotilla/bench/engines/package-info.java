/** Several engines on one machine, one after the other, under the same load. */
@NullMarked
package dev.flotilla.bench.engines;

import org.jspecify.annotations.NullMarked;
