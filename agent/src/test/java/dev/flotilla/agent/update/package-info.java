@NullMarked
package dev.flotilla.agent.update;

import org.jspecify.annotations.NullMarked;
