/** The strict HTTP/1.1 client over one connection, and the server-sent events in its replies. */
@NullMarked
package dev.flotilla.wire.http;

import org.jspecify.annotations.NullMarked;
