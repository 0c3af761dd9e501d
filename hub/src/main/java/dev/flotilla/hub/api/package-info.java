/** /api: what the command line and the dashboard ask of a hub. */
@NullMarked
package dev.flotilla.hub.api;

import org.jspecify.annotations.NullMarked;
