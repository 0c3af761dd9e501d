/**
 * What servers of ours have in common: how they refuse a request for the way in which it was asked,
 * and how they keep other sites' pages out.
 */
@NullMarked
package dev.flotilla.wire.server;

import org.jspecify.annotations.NullMarked;
