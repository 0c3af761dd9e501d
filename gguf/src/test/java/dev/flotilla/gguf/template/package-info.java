@NullMarked
package dev.flotilla.gguf.template;

import org.jspecify.annotations.NullMarked;
