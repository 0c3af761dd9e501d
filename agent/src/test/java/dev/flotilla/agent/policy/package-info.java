@NullMarked
package dev.flotilla.agent.policy;

import org.jspecify.annotations.NullMarked;
