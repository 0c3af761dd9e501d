/** Clients that test servers: one that is rude, a busy crowd, a certificate for TLS. */
@NullMarked
package dev.flotilla.testkit.client;

import org.jspecify.annotations.NullMarked;
