@NullMarked
package dev.flotilla.shape.probe;

import org.jspecify.annotations.NullMarked;
