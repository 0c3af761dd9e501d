/** The hub's end of the connections that agents dial: control lanes and work lanes. */
@NullMarked
package dev.flotilla.hub.lanes;

import org.jspecify.annotations.NullMarked;
