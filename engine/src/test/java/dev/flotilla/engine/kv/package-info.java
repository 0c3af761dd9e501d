@NullMarked
package dev.flotilla.engine.kv;

import org.jspecify.annotations.NullMarked;
