/**
 * Chat templates rendered as Python renders them: the tree of {@code jinja} walked with the values
 * of {@code python}, Jinja's filters, tests and functions at hand.
 */
@NullMarked
package dev.flotilla.gguf.template;

import org.jspecify.annotations.NullMarked;
