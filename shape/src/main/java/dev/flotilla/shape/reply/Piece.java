package dev.flotilla.shape.reply;

import tools.jackson.databind.JsonNode;

/** A piece of one answer, whatever engine it came from and however it was cut into events. */
sealed interface Piece {
  /** The answer begins. */
  record Role() implements Piece {}

  /** A piece of the answer's text, never empty. */
  record Text(String text) implements Piece {}

  /**
   * A piece of the model's reasoning, never empty.
   *
   * @param field the delta's field in which it is written
   */
  record Thought(String text, String field) implements Piece {}

  /**
   * A tool call or a piece of one.
   *
   * @param index which call of the answer; -1 where the engine does not say
   * @param id empty but where a call begins
   * @param name empty but where a call begins
   * @param arguments a piece of the arguments' JSON, may be empty
   */
  record ToolCall(int index, String id, String name, String arguments) implements Piece {
    /** Whether a call begins here. */
    boolean begins() {
      return !id.isEmpty() || !name.isEmpty();
    }
  }

  /** A field of the delta that nobody knows; it passes. */
  record Unknown(String field, JsonNode value) implements Piece {}

  /** The end of the answer. */
  record Finish(String reason) implements Piece {}
}
