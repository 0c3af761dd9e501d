/** Model files made for tests: with random weights, broken ones, wrong templates. */
@NullMarked
package dev.flotilla.testkit.model;

import org.jspecify.annotations.NullMarked;
