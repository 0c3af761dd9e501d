package dev.flotilla.engine;

/** What becomes of a text: an answer, or one vector of what its tokens became. */
public enum Pooling {
  /** No vector. */
  NONE,
  /** The mean of all tokens. */
  MEAN,
  /** What the last token became, which has seen all others. */
  LAST
}
