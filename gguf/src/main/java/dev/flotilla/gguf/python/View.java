package dev.flotilla.gguf.python;

import java.util.List;

/**
 * What {@code dict.items()}, {@code keys()} and {@code values()} return: has a length and can be
 * walked through, but has no elements by number.
 *
 * @param kind Python's name of it
 */
record View(String kind, List<Object> items) {}
