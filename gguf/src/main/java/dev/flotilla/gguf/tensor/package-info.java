/** The weights of a model file: mapped into memory, and what their storage types stand for. */
@NullMarked
package dev.flotilla.gguf.tensor;

import org.jspecify.annotations.NullMarked;
