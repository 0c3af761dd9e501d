/**
 * What a chat template may take, what is left of that in one rendering, and how one ends that takes
 * more or fails.
 */
@NullMarked
package dev.flotilla.gguf.sandbox;

import org.jspecify.annotations.NullMarked;
