@NullMarked
package dev.flotilla.gguf.tensor;

import org.jspecify.annotations.NullMarked;
