package dev.flotilla.cli.bench;

import dev.flotilla.bench.dataset.DatasetOptions;
import dev.flotilla.bench.dataset.DatasetRefused;
import dev.flotilla.bench.dataset.Datasets;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.NamedFile;
import dev.flotilla.cli.output.Since;
import dev.flotilla.cli.output.Text;
import dev.flotilla.cli.output.WholeNumber;
import dev.flotilla.cli.output.WrongUsage;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What is asked. What is out of range is said by the dataset itself, in the same words. */
final class PromptOptions {
  /** Names of the field's datasets that ours are another word for. */
  private static final Map<String, String> OTHER_NAMES =
      Map.of("sharegpt", "file", "custom", "file", "burstgpt", "replay");

  @Option(
      names = {"--dataset", "--dataset-name"},
      paramLabel = "NAME",
      defaultValue = "random",
      description =
          "random, chat, agent, file (JSONL of messages, or ShareGPT's) or replay (a hub's usage"
              + " log) (default: random).")
  private String dataset = "random";

  @Option(
      names = "--dataset-path",
      paramLabel = "FILE",
      description = "The file of --dataset file and replay.")
  private @Nullable Path file;

  @Option(
      names = "--num-prompts",
      paramLabel = "N",
      converter = Prompts.class,
      description = "How many requests (default: as many as the dataset has by itself).")
  private @Nullable Integer prompts;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "0",
      description = "What prompts and arrivals are drawn with (default: 0).")
  private long seed;

  @Option(
      names = {"--input-len", "--random-input-len"},
      paramLabel = "N",
      defaultValue = "1024",
      converter = Tokens.class,
      description = "random: tokens of a prompt (default: 1024).")
  private int input;

  @Option(
      names = {
        "--output-len",
        "--random-output-len",
        "--sharegpt-output-len",
        "--custom-output-len"
      },
      paramLabel = "N",
      converter = AnswerTokens.class,
      description = "Tokens of an answer (default: the dataset's own; random: 128).")
  private @Nullable Integer output;

  @Option(
      names = {"--range-ratio", "--random-range-ratio"},
      paramLabel = "X",
      defaultValue = "0",
      description = "random: how far lengths vary, from 0 to below 1 (default: 0).")
  private double ratio;

  @Option(
      names = {"--prefix-len", "--random-prefix-len"},
      paramLabel = "N",
      defaultValue = "0",
      converter = Tokens.class,
      description = "random: tokens that all prompts begin with (default: 0).")
  private int prefix;

  @Option(
      names = "--max-context",
      paramLabel = "N",
      defaultValue = "0",
      converter = Tokens.class,
      description =
          "agent: prompt and answer fit in so many tokens (default: the server's context).")
  private int maxContext;

  @Option(names = "--disable-shuffle", description = "file: takes the entries in their order.")
  private boolean disableShuffle;

  @Option(names = "--no-oversample", description = "file: takes no entry twice.")
  private boolean noOversample;

  @Option(
      names = "--speedup",
      paramLabel = "X",
      defaultValue = "1",
      description = "replay: how many times faster than it was (default: 1).")
  private double speedup;

  @Option(
      names = "--only-model",
      paramLabel = "NAME",
      description = "replay: requests of this model alone.")
  private @Nullable String onlyModel;

  @Option(
      names = "--only-key",
      paramLabel = "NAME",
      description = "replay: requests of this client key alone.")
  private @Nullable String onlyKey;

  @Option(
      names = "--since",
      paramLabel = "WHEN",
      converter = Since.class,
      description =
          "replay: requests that came from then on: a time ago, such as 90m, 24h or 7d, or an"
              + " instant, such as 2026-03-01T08:00:00Z (default: a hub's log 24h, a file all).")
  private @Nullable Instant since;

  PromptOptions() {}

  long seed() {
    return seed;
  }

  /** How many requests are asked for; 0 for as many as the dataset has. */
  int count() {
    return prompts == null ? 0 : prompts;
  }

  /** The dataset that is wanted. */
  DatasetOptions dataset() {
    String name = OTHER_NAMES.getOrDefault(dataset, dataset);
    if (!Datasets.NAMES.contains(name)) {
      throw new WrongUsage(
          "--dataset: '"
              + Text.printable(dataset)
              + "' is not one of "
              + String.join(", ", Datasets.NAMES)
              + "; a file of your own is --dataset file --dataset-path FILE");
    }
    if (since != null && !name.equals("replay")) {
      throw new WrongUsage("--since is for --dataset replay");
    }
    DatasetOptions options =
        DatasetOptions.of(name)
            .withCount(count())
            .withSeed(seed)
            .withLengths(input, output == null ? 0 : output, ratio, prefix)
            .withMaxContext(maxContext)
            .withDrawing(!disableShuffle, !noOversample)
            .withReplay(speedup, Optional.ofNullable(onlyModel), Optional.ofNullable(onlyKey))
            .withSince(Optional.ofNullable(since));
    return file == null ? options : options.withPath(NamedFile.readable("--dataset-path", file));
  }

  /** A dataset's refusal, as a command ends with it. */
  static RuntimeException refused(DatasetRefused e) {
    String message = String.valueOf(e.getMessage());
    return e.wrongUsage() ? new WrongUsage(message, e) : new Failure(message, e);
  }

  /** How many requests one run may have. */
  static final class Prompts extends WholeNumber {
    Prompts() {
      super(1, 100_000);
    }
  }

  /** Tokens of an answer, which has at least one. */
  static final class AnswerTokens extends WholeNumber {
    AnswerTokens() {
      super(1, 1_000_000);
    }
  }

  /** A number of tokens. */
  static final class Tokens extends WholeNumber {
    Tokens() {
      super(0, 1_000_000);
    }
  }
}
