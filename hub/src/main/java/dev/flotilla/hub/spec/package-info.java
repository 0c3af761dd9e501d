/** fleet.yaml: reading, validation with line numbers, differences between revisions. */
@NullMarked
package dev.flotilla.hub.spec;

import org.jspecify.annotations.NullMarked;
