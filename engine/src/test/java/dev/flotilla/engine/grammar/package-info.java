@NullMarked
package dev.flotilla.engine.grammar;

import org.jspecify.annotations.NullMarked;
