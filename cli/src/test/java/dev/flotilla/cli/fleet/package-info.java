/** Whole fleets, as processes, with the real engine and unmodified clients. */
@org.jspecify.annotations.NullMarked
package dev.flotilla.cli.fleet;
