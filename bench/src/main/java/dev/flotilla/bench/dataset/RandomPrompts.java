package dev.flotilla.bench.dataset;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;

/**
 * The dataset {@code random} as {@code vllm bench serve} defines it: lengths drawn evenly around
 * the wanted ones, counted without the chat template, the special tokens at a text's start
 * included; a prefix that all share on top; answers that go on to their full length.
 */
final class RandomPrompts {
  private static final int OUTPUT_TOKENS = 128;
  private static final int PROMPTS = 1_000;

  /** A word and its space, in bytes: what a token of such a text takes. */
  private static final int BYTES_A_TOKEN = 7;

  /** What chat templates add is seldom more. */
  private static final int TEMPLATE_TOKENS = 64;

  private RandomPrompts() {}

  static Dataset make(
      DatasetOptions options, TokenizerSearch counter, OptionalInt context, DatasetLimits limits)
      throws DatasetRefused {
    DatasetOptions.Lengths lengths = options.lengths();
    int output = lengths.outputOr(OUTPUT_TOKENS);
    int count = options.count() == 0 ? PROMPTS : options.count();
    check(options, limits);
    double ratio = lengths.ratio();
    int specials = counter.tokenizer().map(Tokenizer::specials).orElse(0);
    int input = Math.max(0, lengths.input() - specials);
    int inputLow = (int) Math.floor(input * (1 - ratio));
    int inputHigh = (int) Math.ceil(input * (1 + ratio));
    int outputLow = Math.max(1, (int) Math.floor(output * (1 - ratio)));
    int outputHigh = (int) Math.ceil(output * (1 + ratio));
    if (lengths.prefix() + inputLow < 1) {
      throw DatasetRefused.usage(
          "--input-len "
              + lengths.input()
              + ": with --random-range-ratio "
              + ratio
              + " a prompt may have no token at all; choose a longer one");
    }
    long longest = (long) lengths.prefix() + inputHigh;
    List<String> notes = new ArrayList<>();
    checkSize(longest, count, limits);
    checkContext(longest + specials, outputHigh, context, notes);

    SplittableRandom random = new SplittableRandom(options.seed());
    int[] inputs = random.ints(count, inputLow, inputHigh + 1).toArray();
    int[] outputs = random.ints(count, outputLow, outputHigh + 1).toArray();
    SyntheticTexts.Made made;
    try {
      made = SyntheticTexts.make(counter, lengths.prefix(), inputs, options.seed(), limits);
    } catch (IOException e) {
      throw DatasetRefused.failed("the prompts' tokens can't be counted: " + e.getMessage(), e);
    }
    notes.addAll(made.notes());
    List<Prompt> prompts = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      SyntheticTexts.Text text = made.texts().get(i);
      prompts.add(
          new Prompt(
              "random-" + i,
              new Prompt.Input.Text(text.text()),
              text.tokens(),
              outputs[i],
              true,
              Optional.empty()));
    }
    String description =
        "random %d in %d out".formatted(lengths.input(), output)
            + (ratio > 0 ? " range ratio " + ratio : "")
            + (lengths.prefix() > 0 ? " prefix " + lengths.prefix() : "");
    return new Dataset(description, prompts, notes);
  }

  private static void check(DatasetOptions options, DatasetLimits limits) throws DatasetRefused {
    DatasetChecks.within("--input-len", options.lengths().input(), 1, limits.tokensMax());
    DatasetChecks.within("--random-prefix-len", options.lengths().prefix(), 0, limits.tokensMax());
    double ratio = options.lengths().ratio();
    // Written so that NaN fails too.
    if (!(ratio >= 0 && ratio < 1)) {
      throw DatasetRefused.usage("--random-range-ratio: a number from 0 to below 1, not " + ratio);
    }
  }

  private static void checkSize(long longest, int count, DatasetLimits limits)
      throws DatasetRefused {
    if (longest > limits.tokensMax()) {
      throw DatasetRefused.usage(
          "--input-len: with prefix and range a prompt may have "
              + longest
              + " tokens; the most is "
              + limits.tokensMax());
    }
    checkBytes(longest * count, limits);
  }

  static void checkBytes(long tokens, DatasetLimits limits) throws DatasetRefused {
    long bytes = tokens * BYTES_A_TOKEN;
    if (bytes > limits.promptsBytesMax()) {
      throw DatasetRefused.usage(
          "--num-prompts: prompts of %,d tokens together are about %,d MiB of text; the most is %d MiB"
              .formatted(tokens, bytes >> 20, limits.promptsBytesMax() >> 20));
    }
  }

  private static void checkContext(
      long longest, int output, OptionalInt context, List<String> notes) throws DatasetRefused {
    if (context.isEmpty()) {
      return;
    }
    long whole = longest + output;
    if (whole > context.getAsInt()) {
      throw DatasetRefused.usage(
          "prompts of up to %d tokens and answers of up to %d do not fit the server's context of %d: choose a shorter --input-len, --random-prefix-len or --output-len"
              .formatted(longest, output, context.getAsInt()));
    }
    if (whole + TEMPLATE_TOKENS > context.getAsInt()) {
      notes.add(
          "Prompts and answers fill the server's context of "
              + context.getAsInt()
              + " to the last "
              + (context.getAsInt() - whole)
              + " tokens; what the chat template adds may not fit.");
    }
  }
}
