/** What people and programs read: tables on a terminal, JSON and YAML elsewhere. */
@NullMarked
package dev.flotilla.cli.output;

import org.jspecify.annotations.NullMarked;
