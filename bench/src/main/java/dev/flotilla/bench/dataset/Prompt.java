package dev.flotilla.bench.dataset;

import java.time.Duration;
import java.util.Optional;

/**
 * One request that a benchmark makes.
 *
 * @param name how reports call it, such as {@code random-17}; unique within a run
 * @param input what is asked
 * @param inputTokens tokens of the input where the dataset knows them, counted as {@code vllm bench
 *     serve} does: without what a chat template adds; -1 where it does not
 * @param maxTokens tokens that the answer may have, at least 1
 * @param ignoreEos whether the engine is told to go on to {@code maxTokens} whatever it says
 * @param at when it is due after the start of the run, where the dataset says (a replay)
 */
public record Prompt(
    String name,
    Input input,
    int inputTokens,
    int maxTokens,
    boolean ignoreEos,
    Optional<Duration> at) {

  public Prompt {
    if (maxTokens < 1) {
      throw new IllegalArgumentException("a prompt's answer has at least one token");
    }
    if (inputTokens < -1) {
      throw new IllegalArgumentException("a prompt has no fewer than no tokens");
    }
  }

  /** What is asked, in the form that the server's endpoint takes. */
  public sealed interface Input {

    /** Plain text: {@code prompt} of a completion, or one user message of a chat. */
    record Text(String text) implements Input {}

    /**
     * A conversation.
     *
     * @param messages OpenAI's {@code messages}, a JSON array, sent byte for byte
     * @param tools OpenAI's {@code tools}, a JSON array, where there are any
     */
    record Messages(String messages, Optional<String> tools) implements Input {}
  }
}
