/**
 * OpenAI's API as bytes: what a request asks for, what each chunk of a reply holds, usage, errors
 * both ways.
 */
@NullMarked
package dev.flotilla.wire.openai;

import org.jspecify.annotations.NullMarked;
