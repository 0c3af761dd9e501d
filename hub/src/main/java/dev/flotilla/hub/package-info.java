/** The one address that clients call: gateway, control plane, dashboard. */
@NullMarked
package dev.flotilla.hub;

import org.jspecify.annotations.NullMarked;
