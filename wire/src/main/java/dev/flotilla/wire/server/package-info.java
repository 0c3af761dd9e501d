/**
 * What servers of ours have in common: how they refuse a request for the way in which it was asked,
 * how they keep other sites' pages out, and how they let what runs end when they stop.
 */
@NullMarked
package dev.flotilla.wire.server;

import org.jspecify.annotations.NullMarked;
