/**
 * What is said on lanes: messages of the control lane as lines of JSON, and the lines that open a
 * work lane.
 */
@NullMarked
package dev.flotilla.wire.lanes;

import org.jspecify.annotations.NullMarked;
