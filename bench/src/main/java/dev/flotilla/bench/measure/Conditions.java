package dev.flotilla.bench.measure;

import java.util.OptionalInt;

/**
 * What is known of the server that a run loaded.
 *
 * @param slots requests that it can work on at once, where it says; all workers' together
 * @param slotsFrom who says so, such as {@code llama-server's /props}; empty where nobody does
 */
public record Conditions(OptionalInt slots, String slotsFrom) {
  /** Nothing is known. */
  public static final Conditions UNKNOWN = new Conditions(OptionalInt.empty(), "");
}
