@NullMarked
package dev.flotilla.gguf;

import org.jspecify.annotations.NullMarked;
