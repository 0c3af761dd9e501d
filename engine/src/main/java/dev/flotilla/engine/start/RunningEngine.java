package dev.flotilla.engine.start;

import dev.flotilla.engine.Engine;
import dev.flotilla.engine.kernel.Workers;
import dev.flotilla.engine.model.LoadedModel;
import dev.flotilla.engine.model.ModelOutline;
import dev.flotilla.engine.model.ModelRefused;
import dev.flotilla.engine.model.Transformer;
import dev.flotilla.engine.schedule.ScheduleLimits;
import dev.flotilla.engine.serve.EngineServer;
import dev.flotilla.engine.serve.ServedModel;
import dev.flotilla.gguf.EngineHeap;
import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.GgufRefused;
import dev.flotilla.gguf.MemoryArithmetic;
import dev.flotilla.server.http.FreeAddress;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.function.Consumer;

/**
 * An engine that serves: everything made in the order of need, and ended the other way round.
 *
 * <p>The way of a start: the address, which has to be free, the header; then the weights, which are
 * repacked, while {@linkplain FirstCalls first calls} make the compilers work and the cache's
 * memory is taken; {@linkplain FirstSteps first steps} that say what memory the process takes; then
 * the arithmetic and the listener. What can't be is refused as early as it is known.
 */
public final class RunningEngine implements AutoCloseable {
  private final Deque<AutoCloseable> parts = new ArrayDeque<>();
  private final EngineServer server;
  private final Engine engine;

  private RunningEngine(StartOptions options, Consumer<String> tell)
      throws StartRefused, IOException {
    boolean started = false;
    StartTimes times = new StartTimes(System::nanoTime);
    try {
      FreeAddress.check(options.settings().listen(), "server");
      GgufHeader header = GgufHeader.read(options.model());
      tooLarge(options, header);
      heapTooSmall(options, header);
      ModelOutline outline = ModelOutline.of(header);
      int context = context(options, outline);
      ScheduleLimits limits = limits(options.slots());
      Workers workers = keep(new Workers(options.threads().orElseGet(Machine::physicalCores)));
      FirstCalls calls = keep(FirstCalls.start(outline, options.kvType()));
      FirstSteps steps =
          keep(
              new FirstSteps(
                  options,
                  outline.kvLayout(options.kvType()),
                  context,
                  outline.weightBytes(),
                  limits,
                  workers.size()));
      ServedModel served = served(options, header);
      times.passed("tokenizer and template");
      LoadedModel model = keep(LoadedModel.load(outline, workers));
      times.passed("weights");
      calls.await();
      times.passed("first calls");
      FirstSteps.Ready first = steps.run(model, workers, times);
      Transformer runner = keep(first.runner());
      MemoryPlan plan = first.plan();
      plan.lines().forEach(tell);
      tell.accept("kernels " + runner.kernels() + ", " + workers.size() + " threads");
      engine = keep(new Engine(runner, limits, context, System::nanoTime).start());
      server =
          keep(
              new EngineServer(
                  engine,
                  served,
                  options.settings(),
                  facts(options, runner, workers, plan),
                  Clock.systemUTC(),
                  new SecureRandom()));
      server.start();
      times.passed("server");
      tell.accept("the start: " + times);
      started = true;
    } catch (GgufRefused refused) {
      throw new StartRefused(String.valueOf(refused.getMessage()), refused);
    } catch (ModelRefused refused) {
      throw new StartRefused(options.model() + ": " + refused.getMessage(), refused);
    } finally {
      if (!started) {
        close();
      }
    }
  }

  /**
   * Starts to serve; returns when it listens.
   *
   * @param tell gets lines for people: the arithmetic of the memory, the kernels
   * @throws StartRefused where the model or the settings can't be
   * @throws IOException where the address can't be listened on
   */
  public static RunningEngine start(StartOptions options, Consumer<String> tell)
      throws StartRefused, IOException {
    return new RunningEngine(options, tell);
  }

  private <T extends AutoCloseable> T keep(T part) {
    parts.push(part);
    return part;
  }

  private static ServedModel served(StartOptions options, GgufHeader header)
      throws GgufRefused, StartRefused {
    if (options.template().isEmpty()) {
      return ServedModel.of(options.name(), header);
    }
    try {
      String text = Files.readString(options.template().get(), StandardCharsets.UTF_8);
      return ServedModel.of(options.name(), header, text);
    } catch (IOException unreadable) {
      throw new StartRefused(
          "the chat template %s can't be read as UTF-8 text: %s"
              .formatted(options.template().get(), unreadable.getMessage()),
          unreadable);
    }
  }

  /** Repacked weights are hardly ever smaller than the file's: no need to load them first. */
  private static void tooLarge(StartOptions options, GgufHeader header) throws StartRefused {
    long weights = MemoryArithmetic.weightBytes(header);
    if (weights > options.budget().bytes()) {
      throw new StartRefused(
          "the weights of %s take %s, and the budget is %s (%s)"
              .formatted(
                  options.model(),
                  MemoryPlan.mib(weights),
                  MemoryPlan.mib(options.budget().bytes()),
                  options.budget().words()));
    }
  }

  private static void heapTooSmall(StartOptions options, GgufHeader header) throws HeapTooSmall {
    long needed = EngineHeap.bytes(header, options.slots());
    // The JVM holds a part of what it was given back for itself.
    if (Runtime.getRuntime().maxMemory() < needed - needed / 16) {
      throw new HeapTooSmall(needed, options.slots());
    }
  }

  private static int context(StartOptions options, ModelOutline model) throws StartRefused {
    int most = model.contextMax();
    int context = options.context().orElse(Math.min(most, StartOptions.CONTEXT_DEFAULT));
    if (context > most) {
      throw new StartRefused(
          "the model was made for %,d tokens at most: --context %,d is too long"
              .formatted(most, context));
    }
    return context;
  }

  private static ScheduleLimits limits(int slots) {
    ScheduleLimits usual = ScheduleLimits.DEFAULT;
    return new ScheduleLimits(Math.max(usual.rowsMax(), slots), slots, usual.waitingMax());
  }

  private static Map<String, String> facts(
      StartOptions options, Transformer runner, Workers workers, MemoryPlan plan) {
    return Map.of(
        "build_info",
        options.build(),
        "kernels",
        runner.kernels(),
        "threads",
        String.valueOf(workers.size()),
        "kv_type",
        options.kvType().word(),
        "memory_bytes",
        String.valueOf(plan.total()));
  }

  /** The port that it listens on. */
  public int port() {
    return server.port();
  }

  /** Tokens of one request. */
  public int context() {
    return engine.contextMax();
  }

  /** Stops listening, ends what runs, and gives back all memory. */
  @Override
  public void close() {
    while (!parts.isEmpty()) {
      try {
        parts.pop().close();
      } catch (Exception bug) {
        throw new IllegalStateException("a part of the engine did not end", bug);
      }
    }
  }
}
