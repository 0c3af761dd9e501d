/**
 * Byte streams to a server: where it is, whom TLS trusts, the socket, and the time limits under
 * which what goes on in one is closed.
 */
@NullMarked
package dev.flotilla.wire.connection;

import org.jspecify.annotations.NullMarked;
