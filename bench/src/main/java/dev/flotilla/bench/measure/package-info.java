/**
 * What was measured: the times of each request, the field's figures made of them, and what makes
 * them mislead.
 */
@NullMarked
package dev.flotilla.bench.measure;

import org.jspecify.annotations.NullMarked;
