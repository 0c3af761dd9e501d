package dev.flotilla.agent.engine;

/**
 * Hears how far a long step is: a download, an engine's installation. Called on the thread that
 * works, so it returns at once and never throws.
 */
@FunctionalInterface
public interface ProgressListener {

  /** For callers that have nobody to tell. */
  ProgressListener NOBODY = (subject, step, done, total, finished) -> {};

  /**
   * The step moved on.
   *
   * @param subject what it is for: a model reference or an engine
   * @param step what is being done, in words
   * @param doneBytes how far it is
   * @param totalBytes how far it goes, -1 where unknown
   * @param finished whether this is the last word on this subject
   */
  void progress(String subject, String step, long doneBytes, long totalBytes, boolean finished);
}
