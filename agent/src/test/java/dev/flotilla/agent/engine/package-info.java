@NullMarked
package dev.flotilla.agent.engine;

import org.jspecify.annotations.NullMarked;
