/**
 * One version of flotilla as a signed file: its age among others, its form, whose signature it
 * bears.
 */
@NullMarked
package dev.flotilla.wire.release;

import org.jspecify.annotations.NullMarked;
