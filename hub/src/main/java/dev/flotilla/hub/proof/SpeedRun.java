package dev.flotilla.hub.proof;

import dev.flotilla.hub.proof.Curve.Level;
import dev.flotilla.hub.proof.Curve.Memory;
import dev.flotilla.hub.proof.Curve.Prefill;
import dev.flotilla.hub.proof.Line.Streamed;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import tools.jackson.databind.node.ObjectNode;

/**
 * Measures one worker: the same answers at 1, 2 and 4 at once, and two prompts to read.
 *
 * <p>A level ends when its answers are whole or its time is up, whichever is first; what came
 * counts either way, also where that is nothing. The first run warms the engine up and is not
 * counted. Levels above the worker's slots are left out: they would measure its queue. Where the
 * only request gets no text in its time, the rest is not measured.
 */
final class SpeedRun {
  static final List<Integer> CONCURRENCIES = List.of(1, 2, 4);

  private static final Duration LOOK_EVERY = Duration.ofMillis(100);
  private static final int WARM_TOKENS = 8;
  private static final int AFTER_PREFILL_TOKENS = 16;
  private static final int SHORT_WORDS = 96;
  private static final int LONG_WORDS = 384;
  private static final int TEMPLATE_TOKENS = 128;

  private final Line line;
  private final String model;
  private final String engine;
  private final Room room;
  private final LongSupplier freeMemory;
  private final Size size;

  /**
   * @param tokens of one answer
   * @param level how long one level may take
   * @param contextTokens of one request
   * @param slots of the worker
   */
  record Size(int tokens, Duration level, int contextTokens, int slots) {}

  /** Whether there is room for the measuring beside what clients ask. */
  interface Room {
    /** For a worker that nobody else asks. */
    Room ALONE =
        new Room() {
          @Override
          public Optional<AutoCloseable> take(int requests) {
            return Optional.of(() -> {});
          }

          @Override
          public boolean disturbed(int requests) {
            return false;
          }
        };

    /** So many places, empty where they are not to be had without anybody's loss. */
    Optional<AutoCloseable> take(int requests);

    /** Whether clients came meanwhile: then what is measured counts for nothing and makes way. */
    boolean disturbed(int requests);
  }

  /** Clients came, or are there: to be tried again later. */
  static final class Disturbed extends Exception {
    private static final long serialVersionUID = 1;

    Disturbed() {
      super("clients come first");
    }
  }

  /**
   * @param freeMemory bytes free on the worker's machine, 0 where unknown
   */
  SpeedRun(Line line, String model, String engine, Room room, LongSupplier freeMemory, Size size) {
    this.line = line;
    this.model = model;
    this.engine = engine;
    this.room = room;
    this.freeMemory = freeMemory;
    this.size = size;
  }

  /** Whether any text comes in a level's time. */
  boolean speaks() throws IOException, InterruptedException, Disturbed {
    return level(1, WARM_TOKENS).tokens() > 0;
  }

  /** One answer, after a first that is not counted. */
  Curve quick(int tokens) throws IOException, InterruptedException, Disturbed {
    long before = freeMemory.getAsLong();
    level(1, WARM_TOKENS);
    Level level = level(1, Math.min(tokens, size.tokens()));
    long after = freeMemory.getAsLong();
    return new Curve(List.of(level), List.of(), new Memory(before, Math.min(before, after), after));
  }

  /** All levels and both prompts. */
  Curve whole() throws IOException, InterruptedException, Disturbed {
    long before = freeMemory.getAsLong();
    long least = before;
    level(1, WARM_TOKENS);
    List<Level> levels = new ArrayList<>();
    for (int concurrency : CONCURRENCIES) {
      if (concurrency == 1 || concurrency <= size.slots()) {
        levels.add(level(concurrency, size.tokens()));
        least = Math.min(least, freeMemory.getAsLong());
      }
      if (levels.getFirst().tokens() == 0) {
        return new Curve(levels, List.of(), new Memory(before, least, least));
      }
    }
    List<Prefill> prefills = new ArrayList<>();
    int wordsMax = Math.max(16, (size.contextTokens() - TEMPLATE_TOKENS) / 4);
    prefill(Math.min(SHORT_WORDS, wordsMax), 1).ifPresent(prefills::add);
    if (wordsMax > SHORT_WORDS) {
      prefill(Math.min(LONG_WORDS, wordsMax), AFTER_PREFILL_TOKENS).ifPresent(prefills::add);
    }
    long after = freeMemory.getAsLong();
    return new Curve(levels, prefills, new Memory(before, Math.min(least, after), after));
  }

  private Level level(int concurrency, int tokens)
      throws IOException, InterruptedException, Disturbed {
    List<ObjectNode> bodies = new ArrayList<>();
    for (int i = 0; i < concurrency; i++) {
      bodies.add(
          chat(
              "Tell a very long story of a lighthouse keeper who counts ships. Story %d."
                  .formatted(i + 1),
              tokens,
              true));
    }
    List<Streamed> answers = together(bodies);
    int all = answers.stream().mapToInt(Streamed::tokens).sum();
    if (answers.stream().anyMatch(each -> each.whole() && each.firstNanos() == 0)) {
      throw new IOException("%d at once: an answer ended without text".formatted(concurrency));
    }
    List<Streamed> begun = answers.stream().filter(each -> each.firstNanos() > 0).toList();
    long begin = answers.stream().mapToLong(Streamed::sentNanos).min().orElseThrow();
    long end = begun.stream().mapToLong(Streamed::lastNanos).max().orElse(begin);
    double firstMillis =
        begun.stream().mapToLong(each -> each.firstNanos() - each.sentNanos()).average().orElse(0)
            / 1e6;
    return new Level(
        concurrency,
        answers.stream().mapToDouble(this::perSecond).average().orElse(0),
        all * 1e9 / Math.max(1, end - begin),
        firstMillis,
        all,
        answers.stream().anyMatch(each -> !each.whole()));
  }

  /** Of one answer, by what came of it in its time. */
  private double perSecond(Streamed answer) {
    return answer.whole() || answer.tokens() != 1 ? answer.decode() : 1e9 / size.level().toNanos();
  }

  /** Words that no cache has seen, so that all of them are read. */
  private Optional<Prefill> prefill(int words, int tokens)
      throws IOException, InterruptedException, Disturbed {
    StringBuilder text = new StringBuilder("Read on. ");
    long seed = System.nanoTime();
    for (int i = 0; i < words; i++) {
      seed = seed * 6364136223846793005L + 1442695040888963407L;
      text.append(WORDS.get((int) (seed >>> 33) % WORDS.size())).append(' ');
    }
    Streamed answer = together(List.of(chat(text.toString(), tokens, tokens > 1))).getFirst();
    int computed = answer.promptTokens() - answer.cachedTokens();
    if (answer.promptTokens() < 0 || computed <= 0 || answer.firstNanos() <= answer.sentNanos()) {
      return Optional.empty();
    }
    return Optional.of(
        new Prefill(
            computed,
            computed * 1e9 / (answer.firstNanos() - answer.sentNanos()),
            tokens > 1 ? answer.decode() : 0));
  }

  /** Engines that go on where the model would end, if they are told. */
  private static final Set<String> IGNORE_END = Set.of("builtin", "llama-server", "vllm");

  private static final List<String> WORDS =
      List.of(
          "river", "stone", "cloud", "window", "garden", "paper", "winter", "bridge", "copper",
          "letter", "shadow", "market", "silver", "forest", "island", "candle");

  private ObjectNode chat(String text, int tokens, boolean goOn) {
    ObjectNode body =
        Line.MAPPER
            .createObjectNode()
            .put("model", model)
            .put("max_tokens", tokens)
            .put("temperature", 0);
    if (goOn && IGNORE_END.contains(engine)) {
      body.put("ignore_eos", true);
    }
    body.putArray("messages").addObject().put("role", "user").put("content", text);
    return body;
  }

  /** Asks all of them at once and waits for all; makes way for clients. */
  private List<Streamed> together(List<ObjectNode> bodies)
      throws IOException, InterruptedException, Disturbed {
    AutoCloseable places = room.take(bodies.size()).orElseThrow(Disturbed::new);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Streamed>> answers = new ArrayList<>();
      for (ObjectNode body : bodies) {
        answers.add(threads.submit(() -> line.stream("/v1/chat/completions", body, size.level())));
      }
      try {
        return await(answers);
      } finally {
        answers.forEach(answer -> answer.cancel(true));
      }
    } finally {
      close(places);
    }
  }

  private List<Streamed> await(List<Future<Streamed>> answers)
      throws IOException, InterruptedException, Disturbed {
    List<Streamed> all = new ArrayList<>();
    for (Future<Streamed> answer : answers) {
      while (true) {
        try {
          all.add(answer.get(LOOK_EVERY.toMillis(), TimeUnit.MILLISECONDS));
          break;
        } catch (TimeoutException _) {
          if (room.disturbed(answers.size())) {
            throw new Disturbed();
          }
        } catch (ExecutionException e) {
          if (e.getCause() instanceof IOException failure) {
            throw new IOException(failure.getMessage(), failure);
          }
          throw new IllegalStateException(e.getCause());
        }
      }
    }
    if (room.disturbed(answers.size())) {
      throw new Disturbed();
    }
    return all;
  }

  private static void close(AutoCloseable places) {
    try {
      places.close();
    } catch (Exception e) {
      throw new IllegalStateException("a place could not be given back", e);
    }
  }
}
