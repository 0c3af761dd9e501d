package dev.flotilla.hub.fleet;

import java.time.Instant;

/**
 * A long step on a node: a download, an engine's installation.
 *
 * @param subject what it is for: a model reference or an engine
 * @param step what is being done, in words
 * @param doneBytes how far it is
 * @param totalBytes how far it goes, -1 where unknown
 * @param at when this was heard
 */
public record ProgressView(
    String node, String subject, String step, long doneBytes, long totalBytes, Instant at) {

  /** Whole percent, -1 where the end is unknown. */
  public int percent() {
    return totalBytes <= 0 ? -1 : (int) Math.min(100, doneBytes * 100 / totalBytes);
  }
}
