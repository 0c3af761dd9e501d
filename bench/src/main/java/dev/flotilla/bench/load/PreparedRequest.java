package dev.flotilla.bench.load;

import dev.flotilla.bench.dataset.Prompt;
import dev.flotilla.wire.http.HttpCall;

/**
 * A request whose bytes are made.
 *
 * @param index its place in the run
 */
record PreparedRequest(int index, Prompt prompt, HttpCall call) {}
