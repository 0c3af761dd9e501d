/** Versions of flotilla that agents are brought to: kept, handed out. */
@NullMarked
package dev.flotilla.hub.releases;

import org.jspecify.annotations.NullMarked;
