/** From logits to the next token, and from tokens to where an answer ends. */
@NullMarked
package dev.flotilla.engine.sample;

import org.jspecify.annotations.NullMarked;
