package dev.flotilla.bench.dataset;

import dev.flotilla.bench.dataset.EntryReader.Bad;
import dev.flotilla.wire.text.Counted;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;

/**
 * Prompts of a file. Entries are shuffled by the seed, as {@code vllm bench serve} does for its own
 * file datasets, and where more prompts are wanted than there are, entries are drawn again at
 * random (the field's oversampling), under other names.
 *
 * <p>Of ShareGPT's conversations those are left out that {@code vllm bench serve} leaves out:
 * prompt or answer of fewer than 4 tokens, a prompt of more than 1,024, both together of more than
 * 2,048. Where nobody counts tokens at little cost, four characters are taken for one.
 */
final class FilePrompts {
  private static final int OUTPUT_TOKENS = 256;
  private static final int TOKENS_MIN = 4;
  private static final int PROMPT_TOKENS_MAX = 1_024;
  private static final int WHOLE_TOKENS_MAX = 2_048;
  private static final int CHARS_A_TOKEN = 4;

  /** Conversations that are counted at once. */
  private static final int BATCH = 64;

  private final Path file;
  private final DatasetOptions options;
  private final Supplier<Optional<Tokenizer>> counter;
  private Optional<Tokenizer> tokenizer = Optional.empty();
  private final DatasetLimits limits;
  private final List<String> notes = new ArrayList<>();
  private final List<FileEntry> entries = new ArrayList<>();
  private final Map<String, Integer> lineOfName = new HashMap<>();
  private long kept;
  private int seen;
  private int tooFewTurns;

  private FilePrompts(
      Path file,
      DatasetOptions options,
      Supplier<Optional<Tokenizer>> counter,
      DatasetLimits limits) {
    this.file = file;
    this.options = options;
    this.counter = counter;
    this.limits = limits;
  }

  /**
   * The dataset.
   *
   * @param counter finds a tokenizer that costs next to nothing; asked where lengths are needed
   */
  static Dataset make(
      DatasetOptions options, Supplier<Optional<Tokenizer>> counter, DatasetLimits limits)
      throws DatasetRefused {
    Path file =
        options
            .path()
            .orElseThrow(() ->
                DatasetRefused.usage(
                    "--dataset file needs --dataset-path with a JSONL or JSON file"));
    return new FilePrompts(file, options, counter, limits).make();
  }

  private Dataset make() throws DatasetRefused {
    new EntryReader(file, limits).read(this::take);
    if (tooFewTurns > 0) {
      notes.add(
          "%d of %s left out: conversations of fewer than two turns."
              .formatted(tooFewTurns, Counted.of(seen, "entry is", "entries are")));
    }
    if (options.drawing().shuffle()) {
      Collections.shuffle(entries, new Random(options.seed()));
    }
    if (entries.stream().anyMatch(each -> each.completion().isPresent())) {
      tokenizer = counter.get();
      if (tokenizer.isEmpty()) {
        notes.add("Nobody counts tokens here: four characters are taken for one.");
      }
    }
    int wanted = options.count() == 0 ? entries.size() : options.count();
    List<Prompt> prompts;
    try {
      prompts = prompts(wanted);
    } catch (IOException e) {
      throw DatasetRefused.failed(
          "the tokens of " + file + " can't be counted: " + e.getMessage(), e);
    }
    if (prompts.isEmpty()) {
      throw DatasetRefused.failed(file + " has no entry that can be used" + because());
    }
    oversample(prompts, options.count());
    return new Dataset("file " + file.getFileName(), prompts, notes);
  }

  private String because() {
    return notes.isEmpty() ? "" : ": " + notes.getFirst();
  }

  private boolean take(int line, JsonNode json) throws Bad {
    seen++;
    Optional<FileEntry> entry = FileEntry.of(line, json, limits);
    if (entry.isEmpty()) {
      tooFewTurns++;
      return true;
    }
    Integer before = lineOfName.putIfAbsent(entry.get().name(), line);
    if (before != null) {
      throw new Bad(
          "the name \"" + entry.get().name() + "\" is that of line " + before + " already");
    }
    entries.add(entry.get());
    kept += entry.get().size();
    if (entries.size() == limits.entriesMax() || kept > limits.entriesBytesMax()) {
      notes.add(
          "Only the first %,d entries of %s are used: more are not held in memory."
              .formatted(seen, file.getFileName()));
      return false;
    }
    return true;
  }

  /** So many of the entries, in their order, less those that are left out. */
  private List<Prompt> prompts(int wanted) throws IOException {
    List<Prompt> prompts = new ArrayList<>();
    int unfit = 0;
    for (int from = 0; from < entries.size() && prompts.size() < wanted; from += BATCH) {
      List<FileEntry> batch = entries.subList(from, Math.min(entries.size(), from + BATCH));
      for (Optional<Prompt> prompt : Counting.each(batch, this::prompt)) {
        if (prompt.isEmpty()) {
          unfit++;
        } else if (prompts.size() < wanted) {
          prompts.add(prompt.get());
        }
      }
    }
    if (unfit > 0) {
      notes.add(
          unfit + " conversations are too short or too long, by vLLM's rule, and are left out.");
    }
    return prompts;
  }

  /** The prompt of an entry; empty where its lengths are out of vLLM's range. */
  private Optional<Prompt> prompt(FileEntry entry) throws IOException {
    int output =
        options.lengths().outputOr(entry.maxTokens() > 0 ? entry.maxTokens() : OUTPUT_TOKENS);
    int input = -1;
    if (entry.completion().isPresent() && entry.input() instanceof Prompt.Input.Text text) {
      input = tokens(text.text());
      boolean own = options.lengths().output() == 0;
      output = own ? tokens(entry.completion().get()) : output;
      boolean fits =
          input >= TOKENS_MIN
              && (output >= TOKENS_MIN || !own)
              && input <= PROMPT_TOKENS_MAX
              && input + output <= WHOLE_TOKENS_MAX;
      if (!fits) {
        return Optional.empty();
      }
      input = tokenizer.isPresent() ? input : -1;
    }
    return Optional.of(
        new Prompt(entry.name(), entry.input(), input, output, false, Optional.empty()));
  }

  private int tokens(String text) throws IOException {
    if (tokenizer.isEmpty()) {
      return text.length() / CHARS_A_TOKEN;
    }
    return tokenizer.get().count(text) + tokenizer.get().specials();
  }

  private void oversample(List<Prompt> prompts, int wanted) {
    int distinct = prompts.size();
    if (distinct >= wanted) {
      return;
    }
    if (!options.drawing().oversample()) {
      notes.add("The prompts are %d, not the %d that were asked for.".formatted(distinct, wanted));
      return;
    }
    Random random = new Random(options.seed());
    for (int i = distinct; i < wanted; i++) {
      Prompt again = prompts.get(random.nextInt(distinct));
      prompts.add(
          new Prompt(
              again.name() + "#" + i,
              again.input(),
              again.inputTokens(),
              again.maxTokens(),
              again.ignoreEos(),
              again.at()));
    }
    notes.add(
        "%d distinct prompts were drawn from to make %d: a server with a prefix cache knows the repeated ones."
            .formatted(distinct, wanted));
  }
}
