/** {@code flotilla compare}: the shapes of two servers' replies. */
@NullMarked
package dev.flotilla.cli.compare;

import org.jspecify.annotations.NullMarked;
