package dev.flotilla.bench.dataset;

import java.nio.file.Path;
import java.util.Optional;

/**
 * Which prompts are wanted. Made with {@link #of} and the {@code with} methods; what is out of its
 * range is refused by {@link Datasets#make}, in the words of the options of {@code vllm bench
 * serve}.
 *
 * @param name {@code random}, {@code chat}, {@code agent}, {@code file} or {@code replay}
 * @param path the file of {@code file} and {@code replay}
 * @param count how many prompts; 0 for as many as the dataset has by itself
 * @param seed what everything is drawn with: the same seed gives the same prompts
 * @param inputTokens {@code random}: tokens of a prompt beside the shared prefix, 1 or more
 * @param outputTokens tokens of an answer; 0 for the dataset's own
 * @param rangeRatio {@code random}: how far lengths go below and above, from 0 to below 1
 * @param prefixTokens {@code random}: tokens that begin every prompt alike
 * @param maxContext {@code agent}: input and output fit in so many tokens; 0 for the server's
 *     context where it says, else the full size
 * @param shuffle {@code file}: whether the order of the file is shuffled
 * @param oversample {@code file}: whether entries are drawn again where there are too few
 * @param speedup {@code replay}: how many times faster than it was
 * @param onlyModel {@code replay}: requests of this model alone
 * @param onlyKey {@code replay}: requests of this client key alone
 */
public record DatasetOptions(
    String name,
    Optional<Path> path,
    int count,
    long seed,
    int inputTokens,
    int outputTokens,
    double rangeRatio,
    int prefixTokens,
    int maxContext,
    boolean shuffle,
    boolean oversample,
    double speedup,
    Optional<String> onlyModel,
    Optional<String> onlyKey) {

  /** That dataset as {@code vllm bench serve} would make it: 1,024 tokens in, seed 0. */
  public static DatasetOptions of(String name) {
    return new DatasetOptions(
        name,
        Optional.empty(),
        0,
        0,
        1024,
        0,
        0,
        0,
        0,
        true,
        true,
        1,
        Optional.empty(),
        Optional.empty());
  }

  public DatasetOptions withPath(Path file) {
    return new DatasetOptions(
        name,
        Optional.of(file),
        count,
        seed,
        inputTokens,
        outputTokens,
        rangeRatio,
        prefixTokens,
        maxContext,
        shuffle,
        oversample,
        speedup,
        onlyModel,
        onlyKey);
  }

  public DatasetOptions withCount(int prompts) {
    return new DatasetOptions(
        name,
        path,
        prompts,
        seed,
        inputTokens,
        outputTokens,
        rangeRatio,
        prefixTokens,
        maxContext,
        shuffle,
        oversample,
        speedup,
        onlyModel,
        onlyKey);
  }

  public DatasetOptions withSeed(long drawnWith) {
    return new DatasetOptions(
        name,
        path,
        count,
        drawnWith,
        inputTokens,
        outputTokens,
        rangeRatio,
        prefixTokens,
        maxContext,
        shuffle,
        oversample,
        speedup,
        onlyModel,
        onlyKey);
  }

  /** Lengths in tokens; see the components of those names. */
  public DatasetOptions withLengths(int input, int output, double ratio, int prefix) {
    return new DatasetOptions(
        name,
        path,
        count,
        seed,
        input,
        output,
        ratio,
        prefix,
        maxContext,
        shuffle,
        oversample,
        speedup,
        onlyModel,
        onlyKey);
  }

  public DatasetOptions withOutputTokens(int tokens) {
    return withLengths(inputTokens, tokens, rangeRatio, prefixTokens);
  }

  public DatasetOptions withMaxContext(int tokens) {
    return new DatasetOptions(
        name,
        path,
        count,
        seed,
        inputTokens,
        outputTokens,
        rangeRatio,
        prefixTokens,
        tokens,
        shuffle,
        oversample,
        speedup,
        onlyModel,
        onlyKey);
  }

  /** How entries of a file are drawn. */
  public DatasetOptions withDrawing(boolean shuffled, boolean oversampled) {
    return new DatasetOptions(
        name,
        path,
        count,
        seed,
        inputTokens,
        outputTokens,
        rangeRatio,
        prefixTokens,
        maxContext,
        shuffled,
        oversampled,
        speedup,
        onlyModel,
        onlyKey);
  }

  /** What is replayed of a log, and how fast. */
  public DatasetOptions withReplay(
      double times, Optional<String> model, Optional<String> clientKey) {
    return new DatasetOptions(
        name,
        path,
        count,
        seed,
        inputTokens,
        outputTokens,
        rangeRatio,
        prefixTokens,
        maxContext,
        shuffle,
        oversample,
        times,
        model,
        clientKey);
  }
}
