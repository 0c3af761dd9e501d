package dev.flotilla.engine;

/** Why an answer ended. */
public enum Ending {
  /** The model ended it, or a token that was asked to. */
  STOP,
  /** It has as many tokens as it may have, or as the context or the cache holds. */
  LENGTH,
  /** Nobody wants it any more. */
  CANCELLED,
  /** A step failed, or the engine ended. */
  FAILED
}
