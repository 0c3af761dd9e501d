package dev.flotilla.bench.dataset;

import java.nio.file.Path;
import java.time.Instant;
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
 * @param maxContext {@code agent}: input and output fit in so many tokens; 0 for the server's
 *     context where it says, else the full size
 */
public record DatasetOptions(
    String name,
    Optional<Path> path,
    int count,
    long seed,
    Lengths lengths,
    int maxContext,
    Drawing drawing,
    Replayed replayed) {

  /**
   * Lengths in tokens.
   *
   * @param input {@code random}: of a prompt beside the shared prefix, 1 or more
   * @param output of an answer; 0 for the dataset's own
   * @param ratio {@code random}: how far both go below and above, from 0 to below 1
   * @param prefix {@code random}: what begins every prompt alike
   */
  public record Lengths(int input, int output, double ratio, int prefix) {
    /** Of an answer: what is asked for, else the dataset's own. */
    int outputOr(int own) {
      return output == 0 ? own : output;
    }
  }

  /**
   * How entries of a file are drawn.
   *
   * @param shuffle whether their order is shuffled
   * @param oversample whether entries are drawn again where there are too few
   */
  public record Drawing(boolean shuffle, boolean oversample) {}

  /**
   * What is replayed of a log.
   *
   * @param speedup how many times faster than it was
   * @param onlyModel requests of this model alone
   * @param onlyKey requests of this client key alone
   * @param since requests that came then or later; of a hub's own log the last day where it is
   *     empty
   */
  public record Replayed(
      double speedup,
      Optional<String> onlyModel,
      Optional<String> onlyKey,
      Optional<Instant> since) {}

  /** That dataset as {@code vllm bench serve} would make it: 1,024 tokens in, seed 0. */
  public static DatasetOptions of(String name) {
    return new DatasetOptions(
        name,
        Optional.empty(),
        0,
        0,
        new Lengths(1024, 0, 0, 0),
        0,
        new Drawing(true, true),
        new Replayed(1, Optional.empty(), Optional.empty(), Optional.empty()));
  }

  public DatasetOptions withPath(Path file) {
    return new DatasetOptions(
        name, Optional.of(file), count, seed, lengths, maxContext, drawing, replayed);
  }

  public DatasetOptions withCount(int prompts) {
    return new DatasetOptions(name, path, prompts, seed, lengths, maxContext, drawing, replayed);
  }

  public DatasetOptions withSeed(long drawnWith) {
    return new DatasetOptions(name, path, count, drawnWith, lengths, maxContext, drawing, replayed);
  }

  public DatasetOptions withLengths(int input, int output, double ratio, int prefix) {
    Lengths tokens = new Lengths(input, output, ratio, prefix);
    return new DatasetOptions(name, path, count, seed, tokens, maxContext, drawing, replayed);
  }

  public DatasetOptions withMaxContext(int tokens) {
    return new DatasetOptions(name, path, count, seed, lengths, tokens, drawing, replayed);
  }

  public DatasetOptions withDrawing(boolean shuffle, boolean oversample) {
    Drawing how = new Drawing(shuffle, oversample);
    return new DatasetOptions(name, path, count, seed, lengths, maxContext, how, replayed);
  }

  public DatasetOptions withReplay(
      double speedup, Optional<String> onlyModel, Optional<String> onlyKey) {
    return with(new Replayed(speedup, onlyModel, onlyKey, replayed.since()));
  }

  public DatasetOptions withSince(Optional<Instant> from) {
    return with(new Replayed(replayed.speedup(), replayed.onlyModel(), replayed.onlyKey(), from));
  }

  private DatasetOptions with(Replayed what) {
    return new DatasetOptions(name, path, count, seed, lengths, maxContext, drawing, what);
  }
}
