/** Tests of what was measured. */
@NullMarked
package dev.flotilla.bench.measure;

import org.jspecify.annotations.NullMarked;
