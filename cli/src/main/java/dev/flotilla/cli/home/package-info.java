/** The state folder: where it is, and which processes run on it. */
@NullMarked
package dev.flotilla.cli.home;

import org.jspecify.annotations.NullMarked;
