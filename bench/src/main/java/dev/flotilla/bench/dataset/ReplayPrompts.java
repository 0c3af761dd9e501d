package dev.flotilla.bench.dataset;

import dev.flotilla.bench.dataset.EntryReader.Bad;
import dev.flotilla.wire.text.Counted;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import tools.jackson.databind.JsonNode;

/**
 * The requests of a hub's usage log once more: at the gaps at which they came, as long as they were
 * and with answers as long. What they said is not in the log, so their texts are made.
 *
 * <p>Lengths in the log are what the engine counted, its chat template included. What the template
 * of this server adds is taken off, so that it counts the same again.
 */
final class ReplayPrompts {
  private static final double SPEEDUP_MAX = 1_000_000;

  private final DatasetOptions options;
  private final DatasetLimits limits;
  private final List<RecordedRequest> requests = new ArrayList<>();
  private int seen;
  private int others;
  private int uncounted;
  private int earlier;
  private boolean cut;

  private ReplayPrompts(DatasetOptions options, DatasetLimits limits) {
    this.options = options;
    this.limits = limits;
  }

  /** What is known of the server that the prompts are for. */
  interface Surroundings {
    TokenizerSearch counter();

    OptionalInt context();

    /** Tokens that the chat template puts around one message. */
    int templateTokens();

    /** The lines of the server's own usage log, where it is a hub. */
    String usageLog() throws DatasetRefused;
  }

  static Dataset make(DatasetOptions options, Surroundings server, DatasetLimits limits)
      throws DatasetRefused {
    double speedup = options.replayed().speedup();
    if (!(speedup > 0 && speedup <= SPEEDUP_MAX)) {
      throw DatasetRefused.usage("--speedup: a number above 0 and at most 1000000, not " + speedup);
    }
    return new ReplayPrompts(options, limits).make(server);
  }

  private Dataset make(Surroundings server) throws DatasetRefused {
    String from;
    if (options.path().isPresent()) {
      Path file = options.path().get();
      new EntryReader(file, limits).read(this::take);
      from = String.valueOf(file.getFileName());
    } else {
      new EntryReader(Path.of("the hub's usage log"), limits).read(server.usageLog(), this::take);
      from = "the hub's usage log";
    }
    List<String> notes = new ArrayList<>();
    List<RecordedRequest> chosen = chosen(server, notes);
    if (chosen.isEmpty()) {
      throw DatasetRefused.failed(
          "%s has no request that can be made again: %d of %d are of another model or key, %d have no counted tokens"
                  .formatted(from, others, seen, uncounted)
              + options
                  .replayed()
                  .since()
                  .map(since -> ", %d came before %s (--since)".formatted(earlier, since))
                  .orElse("")
              + (notes.isEmpty() ? "" : "; " + String.join(" ", notes)));
    }
    List<Prompt> prompts = prompts(chosen, server, notes);
    String speed =
        options.replayed().speedup() == 1 ? "" : " at %s times the speed".formatted(plain());
    return new Dataset("replay of " + from + speed, prompts, notes);
  }

  private String plain() {
    double speedup = options.replayed().speedup();
    return speedup == Math.rint(speedup) ? Long.toString((long) speedup) : Double.toString(speedup);
  }

  private boolean take(int line, JsonNode json) throws Bad {
    seen++;
    Optional<RecordedRequest> request = RecordedRequest.of(json, limits);
    boolean wanted =
        options.replayed().onlyModel().map(json.path("model").asString("")::equals).orElse(true)
            && options.replayed().onlyKey().map(json.path("key").asString("")::equals).orElse(true);
    if (!wanted) {
      others++;
    } else if (request.isEmpty()) {
      uncounted++;
    } else if (options.replayed().since().map(request.get().arrived()::isBefore).orElse(false)) {
      earlier++;
    } else {
      requests.add(request.get());
    }
    cut = seen == limits.entriesMax();
    return !cut;
  }

  /** The first so many of them by arrival that the server's context can take. */
  private List<RecordedRequest> chosen(Surroundings server, List<String> notes) {
    int context = server.context().orElse(Integer.MAX_VALUE);
    int most = options.count() == 0 ? limits.promptsMax() : options.count();
    List<RecordedRequest> fitting =
        requests.stream()
            .filter(each -> (long) each.inputTokens() + each.outputTokens() <= context)
            .sorted(Comparator.comparing(RecordedRequest::arrived))
            .toList();
    if (fitting.size() < requests.size()) {
      notes.add(
          "%s left out: prompt and answer do not fit the server's context of %d."
              .formatted(
                  Counted.of(requests.size() - fitting.size(), "request is", "requests are"),
                  context));
    }
    if (uncounted > 0 && !fitting.isEmpty()) {
      notes.add(
          "%s left out: no counted tokens, or no text that was made."
              .formatted(Counted.of(uncounted, "request is", "requests are")));
    }
    if (cut || fitting.size() > limits.promptsMax()) {
      notes.add("The log is longer than what is replayed of it.");
    }
    return fitting.subList(0, Math.min(most, fitting.size()));
  }

  private List<Prompt> prompts(
      List<RecordedRequest> chosen, Surroundings server, List<String> notes) throws DatasetRefused {
    int template = server.templateTokens();
    int[] lengths =
        chosen.stream().mapToInt(each -> Math.max(1, each.inputTokens() - template)).toArray();
    RandomPrompts.checkBytes(Arrays.stream(lengths).asLongStream().sum(), limits);
    SyntheticTexts.Made made;
    try {
      made = SyntheticTexts.make(server.counter(), 0, lengths, options.seed(), limits);
    } catch (IOException e) {
      throw DatasetRefused.failed("the prompts' tokens can't be counted: " + e.getMessage(), e);
    }
    notes.addAll(made.notes());
    Instant begin = chosen.getFirst().arrived();
    List<Prompt> prompts = new ArrayList<>(chosen.size());
    for (int i = 0; i < chosen.size(); i++) {
      RecordedRequest request = chosen.get(i);
      Duration after = Duration.between(begin, request.arrived());
      SyntheticTexts.Text text = made.texts().get(i);
      prompts.add(
          new Prompt(
              "replay-" + i,
              new Prompt.Input.Text(text.text()),
              text.tokens(),
              request.outputTokens(),
              true,
              Optional.of(
                  Duration.ofNanos((long) (after.toNanos() / options.replayed().speedup())))));
    }
    return prompts;
  }
}
