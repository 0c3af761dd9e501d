package dev.flotilla.engine;

import dev.flotilla.engine.sample.Sampling;
import java.util.Optional;

/** Requests for tests, written where they are asked. */
final class Ask {
  private int[] prompt;
  private Sampling sampling = Sampling.GREEDY;
  private int maxTokens = 8;
  private int minTokens;
  private int[] ends = {};
  private boolean endless;
  private int[] stops = {};
  private int logprobs = -1;
  private int priority;

  private Ask(int[] prompt) {
    this.prompt = prompt;
  }

  static Ask after(int... prompt) {
    return new Ask(prompt);
  }

  Ask atMost(int tokens) {
    maxTokens = tokens;
    return this;
  }

  Ask atLeast(int tokens) {
    minTokens = tokens;
    return this;
  }

  Ask endingWith(int... tokens) {
    ends = tokens;
    return this;
  }

  Ask endless() {
    endless = true;
    return this;
  }

  Ask stoppingAt(int... tokens) {
    stops = tokens;
    return this;
  }

  Ask sampled(double temperature, long seed) {
    sampling = new Sampling(temperature, 0, 1, 0, 1, 0, 0, Sampling.GREEDY.bias(), seed);
    return this;
  }

  Ask logprobs(int count) {
    logprobs = count;
    return this;
  }

  GenerationRequest build() {
    return new GenerationRequest(
        prompt,
        sampling,
        maxTokens,
        minTokens,
        ends,
        endless,
        stops,
        logprobs,
        Optional.empty(),
        GenerationRequest.COMMON_ROOT,
        priority,
        Pooling.NONE);
  }
}
