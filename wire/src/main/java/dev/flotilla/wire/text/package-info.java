/**
 * The ground that all else of this module stands on: JSON of others read within limits, bytes that
 * are UTF-8, names that mean nothing where they are put, numbers in words that people read.
 */
@NullMarked
package dev.flotilla.wire.text;

import org.jspecify.annotations.NullMarked;
