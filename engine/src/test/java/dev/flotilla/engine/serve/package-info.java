@NullMarked
package dev.flotilla.engine.serve;

import org.jspecify.annotations.NullMarked;
