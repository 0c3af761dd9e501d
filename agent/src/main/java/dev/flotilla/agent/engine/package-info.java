/**
 * Engine adapters: from a promise and a recipe to a command line, and the engine's installation.
 */
@NullMarked
package dev.flotilla.agent.engine;

import org.jspecify.annotations.NullMarked;
