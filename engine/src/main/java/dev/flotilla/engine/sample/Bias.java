package dev.flotilla.engine.sample;

import java.util.Map;

/** What is added to the logits of some tokens. */
public final class Bias {
  /** Nothing. */
  public static final Bias NONE = new Bias(Map.of());

  private final int[] tokens;
  private final float[] values;

  /** By token. */
  public Bias(Map<Integer, Float> byToken) {
    tokens = byToken.keySet().stream().mapToInt(Integer::intValue).sorted().toArray();
    values = new float[tokens.length];
    for (int i = 0; i < tokens.length; i++) {
      values[i] = byToken.getOrDefault(tokens[i], 0f);
    }
  }

  void addTo(float[] logits) {
    for (int i = 0; i < tokens.length; i++) {
      logits[tokens[i]] += values[i];
    }
  }
}
