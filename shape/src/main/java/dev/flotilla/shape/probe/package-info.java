/**
 * What every server is asked, the shape of what it answers, and whether that is the promised one.
 */
@NullMarked
package dev.flotilla.shape.probe;

import org.jspecify.annotations.NullMarked;
