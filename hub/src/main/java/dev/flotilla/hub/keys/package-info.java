/** Who asks: client keys and enrolment tokens. */
@NullMarked
package dev.flotilla.hub.keys;

import org.jspecify.annotations.NullMarked;
