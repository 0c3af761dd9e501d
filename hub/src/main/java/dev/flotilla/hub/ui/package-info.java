/** The dashboard. */
@NullMarked
package dev.flotilla.hub.ui;

import org.jspecify.annotations.NullMarked;
