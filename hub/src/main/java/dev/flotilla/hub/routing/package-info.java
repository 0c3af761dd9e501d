/** Which target gets which request: routes, the fair queue, the ledger, learned speeds. */
@NullMarked
package dev.flotilla.hub.routing;

import org.jspecify.annotations.NullMarked;
