@NullMarked
package dev.flotilla.agent.process;

import org.jspecify.annotations.NullMarked;
