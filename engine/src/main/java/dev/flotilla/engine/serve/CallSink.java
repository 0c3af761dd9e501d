package dev.flotilla.engine.serve;

/** Where a {@link CallReader} says what it finds. */
interface CallSink {
  /** A call begins: its name is known, and what follows are its arguments. */
  void begins(String name);

  /** More of the arguments of the call that has begun. */
  void says(CharSequence arguments);

  /**
   * The call that has begun is whole.
   *
   * @param beyond how many of the characters that were read last are no part of it
   */
  void ends(int beyond);
}
