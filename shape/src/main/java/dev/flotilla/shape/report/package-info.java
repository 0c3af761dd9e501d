/** What probes of two servers showed, for people and for programs. */
@NullMarked
package dev.flotilla.shape.report;

import org.jspecify.annotations.NullMarked;
