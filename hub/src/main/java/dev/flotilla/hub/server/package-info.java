/**
 * The hub's listener: connections of clients, their limits, and errors that programs understand.
 */
@NullMarked
package dev.flotilla.hub.server;

import org.jspecify.annotations.NullMarked;
