/** One server at several concurrencies: which runs are made in which order, and what they gave. */
@NullMarked
package dev.flotilla.bench.sweep;

import org.jspecify.annotations.NullMarked;
