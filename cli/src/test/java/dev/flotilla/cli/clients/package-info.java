/** Clients of a whole fleet as their makers publish them: unmodified, streaming and not. */
@org.jspecify.annotations.NullMarked
package dev.flotilla.cli.clients;
