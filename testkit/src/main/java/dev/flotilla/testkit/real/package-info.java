/**
 * What is not made up: engines that run, models and programs of this machine, fetched once and
 * kept, what real engines answered, the page of limits.
 */
@NullMarked
package dev.flotilla.testkit.real;

import org.jspecify.annotations.NullMarked;
