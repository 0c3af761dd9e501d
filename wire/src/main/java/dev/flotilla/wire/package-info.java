/** OpenAI wire forms, the strict HTTP/1.1 client, server-sent events, lane messages. */
@NullMarked
package dev.flotilla.wire;

import org.jspecify.annotations.NullMarked;
