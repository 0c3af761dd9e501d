package dev.flotilla.engine.sample;

/**
 * What may come next in an answer that has a form. Asked and told by the engine's thread, once each
 * per token.
 */
public interface TokenMask {
  /**
   * Bit {@code t % 64} of word {@code t / 64} says whether token {@code t} may come next, the
   * tokens that end an answer included. Not to be written; good until {@link #accept}.
   */
  long[] allowed();

  /** The token that came: one that was allowed. */
  void accept(int token);
}
