/**
 * What an engine said, made into what a name promises: a {@link
 * dev.flotilla.shape.reply.StreamShaper} for events, a {@link dev.flotilla.shape.reply.WholeShaper}
 * for whole replies, and between them one class for each difference. Pure: nothing here reads,
 * writes or waits.
 */
@NullMarked
package dev.flotilla.shape.reply;

import org.jspecify.annotations.NullMarked;
