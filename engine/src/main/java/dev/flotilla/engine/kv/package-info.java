/** The paged KV cache's book-keeping: which block belongs to whom, and what is in it. */
@NullMarked
package dev.flotilla.engine.kv;

import org.jspecify.annotations.NullMarked;
