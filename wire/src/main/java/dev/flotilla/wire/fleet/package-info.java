/**
 * What a hub and its agents mean by the same words: a node and what it has, a worker as it is
 * wanted and as it is, what a recipe may not ask of an engine.
 */
@NullMarked
package dev.flotilla.wire.fleet;

import org.jspecify.annotations.NullMarked;
