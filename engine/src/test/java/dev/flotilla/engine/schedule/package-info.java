@NullMarked
package dev.flotilla.engine.schedule;

import org.jspecify.annotations.NullMarked;
