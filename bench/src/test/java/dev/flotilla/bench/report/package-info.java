/** Tests of how results are shown and kept. */
@NullMarked
package dev.flotilla.bench.report;

import org.jspecify.annotations.NullMarked;
