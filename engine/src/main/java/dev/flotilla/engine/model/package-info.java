/** A model file's weights and architecture, and the runner that computes one packed step of it. */
@NullMarked
package dev.flotilla.engine.model;

import org.jspecify.annotations.NullMarked;
