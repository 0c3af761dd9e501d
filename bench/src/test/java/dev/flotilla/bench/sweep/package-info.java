@NullMarked
package dev.flotilla.bench.sweep;

import org.jspecify.annotations.NullMarked;
