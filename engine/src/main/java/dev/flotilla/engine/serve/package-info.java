/**
 * The engine as an OpenAI-compatible server: requests read strictly, answers written as they come.
 */
@NullMarked
package dev.flotilla.engine.serve;

import org.jspecify.annotations.NullMarked;
