@NullMarked
package dev.flotilla.shape.dialect;

import org.jspecify.annotations.NullMarked;
