/** Shows that a worker is what its model promises, before it serves and while it does. */
@NullMarked
package dev.flotilla.hub.proof;

import org.jspecify.annotations.NullMarked;
