package dev.flotilla.engine;

import dev.flotilla.engine.sample.Sampling;
import dev.flotilla.engine.sample.TokenMask;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * What is wanted of one answer, or of one text of which a vector is made.
 *
 * @param prompt its tokens, at least one
 * @param sampling how tokens are chosen
 * @param maxTokens tokens that the answer has at most, at least 1
 * @param minTokens tokens before which nothing of {@code ends} or {@code stops} is chosen
 * @param ends tokens with which the model ends an answer; they belong to it, and are not said
 * @param endless whether the tokens of {@code ends} are never chosen
 * @param stops tokens that end the answer because the request says so
 * @param logprobs likeliest tokens that are told of each place, 0 for none but the chosen one's
 *     log-probability; -1 for none at all
 * @param form makes what says, token by token, what the answer has to be, where it has to be
 *     something
 * @param root what its blocks stand on: a negative number; answers share the cache with those of
 *     the same root
 * @param priority lower goes first
 * @param pooling how a vector is made of the prompt, which then has no answer
 */
@SuppressWarnings(
    "ArrayRecordComponent") // tokens go to the engine as they are, and nobody compares requests
public record GenerationRequest(
    int[] prompt,
    Sampling sampling,
    int maxTokens,
    int minTokens,
    int[] ends,
    boolean endless,
    int[] stops,
    int logprobs,
    Optional<Supplier<TokenMask>> form,
    long root,
    int priority,
    Pooling pooling) {
  /** Likeliest tokens that can be told of a place. */
  public static final int LOGPROBS_MAX = 20;

  /** The root of requests without a salt. */
  public static final long COMMON_ROOT = -1;

  public GenerationRequest {
    if (maxTokens < 1 || minTokens < 0 || logprobs < -1 || logprobs > LOGPROBS_MAX || root >= 0) {
      throw new IllegalArgumentException(
          "max " + maxTokens + ", min " + minTokens + ", logprobs " + logprobs + ", root " + root);
    }
  }

  /** A text of which a vector is made, as one of {@link #COMMON_ROOT} and of no priority. */
  public static GenerationRequest vector(int[] text, Pooling pooling) {
    return new GenerationRequest(
        text,
        Sampling.GREEDY,
        1,
        0,
        new int[0],
        false,
        new int[0],
        -1,
        Optional.empty(),
        COMMON_ROOT,
        0,
        pooling);
  }

  /** Another answer to the same prompt, drawn with another seed. */
  GenerationRequest withSeed(long seed) {
    Sampling s = sampling;
    return new GenerationRequest(
        prompt,
        new Sampling(
            s.temperature(),
            s.topK(),
            s.topP(),
            s.minP(),
            s.repetitionPenalty(),
            s.presencePenalty(),
            s.frequencyPenalty(),
            s.bias(),
            seed),
        maxTokens,
        minTokens,
        ends,
        endless,
        stops,
        logprobs,
        form,
        root,
        priority,
        pooling);
  }
}
