/** The model store: fetching, verifying and sharing model files. */
@NullMarked
package dev.flotilla.agent.models;

import org.jspecify.annotations.NullMarked;
