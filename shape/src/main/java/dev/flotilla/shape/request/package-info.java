/** What a request asks for, and what it becomes for each engine: one class for each difference. */
@NullMarked
package dev.flotilla.shape.request;

import org.jspecify.annotations.NullMarked;
