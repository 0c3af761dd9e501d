/** How each engine speaks, what it can't do, and what a name promises all the same. */
@NullMarked
package dev.flotilla.shape.dialect;

import org.jspecify.annotations.NullMarked;
