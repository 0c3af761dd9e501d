@NullMarked
package dev.flotilla.engine.sample;

import org.jspecify.annotations.NullMarked;
