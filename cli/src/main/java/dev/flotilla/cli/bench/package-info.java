/** Measuring: load on a server, sweeps, the three arms, several engines. */
@NullMarked
package dev.flotilla.cli.bench;

import org.jspecify.annotations.NullMarked;
