/** Model files: the GGUF header and the memory arithmetic that follows from it. */
@NullMarked
package dev.flotilla.gguf;

import org.jspecify.annotations.NullMarked;
