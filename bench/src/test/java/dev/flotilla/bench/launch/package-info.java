@NullMarked
package dev.flotilla.bench.launch;

import org.jspecify.annotations.NullMarked;
