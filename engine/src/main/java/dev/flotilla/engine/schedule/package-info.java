/** Which sequences run in the next step, with how many tokens each. */
@NullMarked
package dev.flotilla.engine.schedule;

import org.jspecify.annotations.NullMarked;
