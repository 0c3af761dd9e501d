/** Answers that have a form: grammars over bytes, and which tokens they allow next. */
@NullMarked
package dev.flotilla.engine.grammar;

import org.jspecify.annotations.NullMarked;
