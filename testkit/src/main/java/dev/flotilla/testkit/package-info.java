/** A scriptable engine that lies, stalls, drops and drips on command; real-engine fixtures. */
@NullMarked
package dev.flotilla.testkit;

import org.jspecify.annotations.NullMarked;
