/** The way of a request: read it, find its targets, relay the reply. */
@NullMarked
package dev.flotilla.hub.gateway;

import org.jspecify.annotations.NullMarked;
