package dev.flotilla.engine.serve;

import java.net.InetSocketAddress;

/**
 * How the server serves.
 *
 * @param listen the address; port 0 takes any free one
 * @param key what clients have to show, empty for none
 * @param reasoning where thoughts are said
 * @param machineName the machine's own name, by which it may be called; empty where unknown
 */
public record ServeSettings(
    InetSocketAddress listen,
    String key,
    Reasoning reasoning,
    String machineName,
    ServeLimits limits) {

  /** Where a model's thoughts are said. */
  public enum Reasoning {
    /** As the model writes them, in the answer itself. */
    INLINE("inline", "content"),
    /** Beside the answer. */
    REASONING_CONTENT("reasoning_content", "reasoning_content"),
    /** The model is told not to think; what it thinks all the same is beside the answer. */
    OFF("off", "reasoning_content");

    private final String word;
    private final String field;

    Reasoning(String word, String field) {
      this.word = word;
      this.field = field;
    }

    /** The word that a command line uses. */
    public String word() {
      return word;
    }

    String field() {
      return field;
    }
  }
}
