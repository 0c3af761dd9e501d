package dev.flotilla.shape.dialect;

import dev.flotilla.wire.openai.DefaultSampling;

/**
 * How a token is drawn where a request does not say. Engines disagree: mlx-lm always takes the
 * likeliest, vLLM takes what the model's folder names, else temperature 1 without a cut, and
 * llama-server these {@linkplain #DEFAULTS values}; one name would give sober answers on one worker
 * and rubbish on the next.
 *
 * @param temperature 0 takes the likeliest; at most {@value #TEMPERATURE_MAX}
 * @param topP the likeliest tokens that have so much probability together, over 0, at most 1
 * @param topK so many of the likeliest tokens; 0 for all
 * @param minP tokens with at least that part of the likeliest one's probability, from 0 to 1
 */
public record Sampling(double temperature, double topP, int topK, double minP) {
  public static final double TEMPERATURE_MAX = 2;
  public static final int TOP_K_MAX = 1_000;

  public static final Sampling DEFAULTS =
      new Sampling(
          DefaultSampling.TEMPERATURE,
          DefaultSampling.TOP_P,
          DefaultSampling.TOP_K,
          DefaultSampling.MIN_P);

  @Override
  public String toString() {
    return "temperature %s, top-p %s, top-k %d, min-p %s".formatted(temperature, topP, topK, minP);
  }
}
