/** What the fleet is: nodes, workers, their states, and which worker is placed where. */
@NullMarked
package dev.flotilla.hub.fleet;

import org.jspecify.annotations.NullMarked;
