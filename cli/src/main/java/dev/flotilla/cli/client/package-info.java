/** How the command line talks to a hub: {@code /api/*} for itself, {@code /v1/*} as any client. */
@NullMarked
package dev.flotilla.cli.client;

import org.jspecify.annotations.NullMarked;
