@NullMarked
package dev.flotilla.engine.model;

import org.jspecify.annotations.NullMarked;
