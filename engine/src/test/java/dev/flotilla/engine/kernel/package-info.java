@NullMarked
package dev.flotilla.engine.kernel;

import org.jspecify.annotations.NullMarked;
