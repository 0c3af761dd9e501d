/** How an agent is replaced by another version of itself: docs/update.md. */
@NullMarked
package dev.flotilla.agent.update;

import org.jspecify.annotations.NullMarked;
