/**
 * The listener that the hub and the built-in engine share: connections of clients, their limits,
 * and errors that programs understand.
 */
@NullMarked
package dev.flotilla.server.http;

import org.jspecify.annotations.NullMarked;
