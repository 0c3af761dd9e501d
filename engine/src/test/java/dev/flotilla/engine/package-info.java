@NullMarked
package dev.flotilla.engine;

import org.jspecify.annotations.NullMarked;
