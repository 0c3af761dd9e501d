@NullMarked
package dev.flotilla.gguf.tokenizer;

import org.jspecify.annotations.NullMarked;
