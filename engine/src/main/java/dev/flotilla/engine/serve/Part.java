package dev.flotilla.engine.serve;

/** A piece of an answer, in the order in which it is said. */
sealed interface Part {
  /** Of the thoughts before the answer. */
  record Thought(String text) implements Part {}

  /** Of the answer. */
  record Content(String text) implements Part {}

  /** A call begins. */
  record Call(int index, String id, String name) implements Part {}

  /** More of the arguments of a call that has begun. */
  record Arguments(int index, String text) implements Part {}
}
