/** Matrix products and attention: the scalar specification, the SIMD version, the threads. */
@NullMarked
package dev.flotilla.engine.kernel;

import org.jspecify.annotations.NullMarked;
