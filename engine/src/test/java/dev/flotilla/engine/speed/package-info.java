@NullMarked
package dev.flotilla.engine.speed;

import org.jspecify.annotations.NullMarked;
