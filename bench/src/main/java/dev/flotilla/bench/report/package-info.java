/**
 * How results are shown and kept: on a terminal, as JSON in the field's keys, as a page that can be
 * mailed, as a picture.
 */
@NullMarked
package dev.flotilla.bench.report;

import org.jspecify.annotations.NullMarked;
