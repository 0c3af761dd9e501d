/** Load on a server: requests, when they are sent, and what the client saw of each. */
@NullMarked
package dev.flotilla.bench.load;

import org.jspecify.annotations.NullMarked;
