package dev.flotilla.shape.probe;

/**
 * What is asked.
 *
 * @param model the model's name in requests
 * @param contextTokens tokens of one request, prompt and answer together; 0 where not known
 */
public record ProbeTarget(String model, int contextTokens) {
  public ProbeTarget {
    if (contextTokens < 0) {
      throw new IllegalArgumentException("a context has no negative length");
    }
  }
}
