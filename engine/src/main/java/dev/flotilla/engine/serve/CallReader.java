package dev.flotilla.engine.serve;

/**
 * Reads the calls behind one mark as the model writes them, character by character: each is told to
 * a {@link CallSink} as soon as its name is known, its arguments as they come.
 *
 * <p>Arguments are a JSON object, without the blanks that mean nothing. What a model writes may
 * turn out not to be one after its beginning was told; then it is passed on as it is, as OpenAI's
 * API has it: whoever makes the call has to look at its arguments.
 */
interface CallReader {
  /** What a character was. */
  enum Now {
    /** A part of a call, or of what stands between calls. */
    INSIDE,
    /** The last one of the calls. */
    OVER,
    /** No part of any: what was read since the last whole call is ordinary text. */
    TEXT,
    /** One that makes a call, which has begun, malformed. */
    BROKEN
  }

  Now next(char c);

  static boolean isBlank(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
  }
}
