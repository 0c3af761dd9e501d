/**
 * Jinja's syntax: from a template's text by way of tokens to the tree of its statements and
 * expressions.
 */
@NullMarked
package dev.flotilla.gguf.jinja;

import org.jspecify.annotations.NullMarked;
