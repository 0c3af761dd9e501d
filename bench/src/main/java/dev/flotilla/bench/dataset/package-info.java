/** What is asked: prompts made, read from files, or taken from a hub's own usage log. */
@NullMarked
package dev.flotilla.bench.dataset;

import org.jspecify.annotations.NullMarked;
