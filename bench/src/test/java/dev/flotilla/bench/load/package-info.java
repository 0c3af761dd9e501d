/** How load is made and what the client sees, against a server that misbehaves on command. */
@NullMarked
package dev.flotilla.bench.load;

import org.jspecify.annotations.NullMarked;
