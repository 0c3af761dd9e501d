/** Tokenizers, made from a model file's own data: text to tokens and back. */
@NullMarked
package dev.flotilla.gguf.tokenizer;

import org.jspecify.annotations.NullMarked;
