/**
 * Engines that are scripts: real servers that answer by the API, or in all but one way, or break
 * HTTP at any byte.
 */
@NullMarked
package dev.flotilla.testkit.scripted;

import org.jspecify.annotations.NullMarked;
