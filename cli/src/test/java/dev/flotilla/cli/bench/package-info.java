/** What a user sees of measurements. */
@NullMarked
package dev.flotilla.cli.bench;

import org.jspecify.annotations.NullMarked;
