package dev.flotilla.hub.gateway;

import dev.flotilla.hub.routing.Target;

/** Who looks at what targets do for clients. Called on each request's thread: it must not block. */
public interface TargetWatch {
  /** For a hub whose targets nobody watches. */
  TargetWatch NOBODY =
      new TargetWatch() {
        @Override
        public void answered(
            Target target, int promptTokens, int completionTokens, long decodeNanos, int inFlight) {
          // Not watched.
        }

        @Override
        public void misbehaved(Target target, String reason) {
          // Not watched.
        }
      };

  /**
   * An answer came to its end.
   *
   * @param promptTokens all tokens of its prompt, -1 where unknown
   * @param completionTokens -1 where unknown
   * @param decodeNanos from its first token to its last
   * @param inFlight requests on the target when it began, this one included
   */
  void answered(
      Target target, int promptTokens, int completionTokens, long decodeNanos, int inFlight);

  /**
   * A reply was not as an engine's replies are; that it broke off, or that none came, is not among
   * it.
   *
   * @param reason the rest of a sentence that begins with the target's name
   */
  void misbehaved(Target target, String reason);
}
