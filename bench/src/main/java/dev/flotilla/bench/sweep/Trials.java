package dev.flotilla.bench.sweep;

import dev.flotilla.bench.dataset.Dataset;
import dev.flotilla.bench.dataset.DatasetLimits;
import dev.flotilla.bench.dataset.DatasetOptions;
import dev.flotilla.bench.dataset.DatasetRefused;
import dev.flotilla.bench.dataset.Datasets;
import dev.flotilla.bench.dataset.Prompt;
import dev.flotilla.bench.dataset.Server;
import dev.flotilla.bench.dataset.Variants;
import dev.flotilla.bench.launch.MemorySampler;
import dev.flotilla.bench.launch.StartedEngine;
import dev.flotilla.bench.load.LoadGenerator;
import dev.flotilla.bench.load.LoadLimits;
import dev.flotilla.bench.load.LoadPlan;
import dev.flotilla.bench.load.Progress;
import dev.flotilla.bench.load.RequestForm;
import dev.flotilla.bench.load.ServerUnderTest;
import dev.flotilla.bench.load.ServerUnusable;
import dev.flotilla.bench.measure.Conditions;
import dev.flotilla.bench.measure.Goals;
import dev.flotilla.bench.measure.Load;
import dev.flotilla.bench.measure.Result;
import dev.flotilla.bench.measure.Run;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The single runs that an experiment is made of: the same prompts, again and again, on servers that
 * may be others each time.
 *
 * <p><b>Prompts.</b> They are made once, with the first server, which counts their tokens. Each run
 * takes the first of them, as a {@linkplain Variants variant} of its own; its warm-ups take another
 * variant, so that they warm a server and not its cache.
 *
 * <p><b>Concurrency.</b> One thread makes the runs, one after another. {@link #stop} may come from
 * any thread: the run that goes comes back as partial, an engine that is starting is given up, and
 * whoever makes the runs asks {@link #stopped} before the next one.
 */
public final class Trials {
  private final Shape shape;
  private final Listener listener;
  private @Nullable Dataset dataset;
  private @Nullable LoadGenerator running;
  private @Nullable Thread starting;
  private @Nullable Server questions;
  private boolean stopped;
  private int runs;

  /**
   * @param listener hears what goes on
   */
  public Trials(Shape shape, Listener listener) {
    this.shape = shape;
    this.listener = listener;
  }

  /**
   * What is the same in all runs.
   *
   * @param requests how servers are asked
   * @param dataset which prompts; its count is the most that a run takes
   * @param warmups requests before each run's clock starts
   */
  public record Shape(
      Requests requests,
      DatasetOptions dataset,
      int warmups,
      LoadLimits limits,
      Goals goals,
      SortedSet<Double> percents,
      Map<String, String> metadata) {}

  /** How servers are asked. */
  public interface Requests {

    /**
     * A server, with all that goes with each request to it.
     *
     * @param key that it demands
     */
    ServerUnderTest server(URI address, Optional<String> key);

    /** How requests for that model look. */
    RequestForm form(String model);

    /** Whether connections are used again. */
    boolean keepAlive();
  }

  /** Hears what goes on, on the thread that makes the runs. */
  public interface Listener {

    /** An engine is being started, or is not needed any more; in words. */
    void says(String what);

    /**
     * A run begins.
     *
     * @param what it is, in words
     * @param requests how many it makes
     * @param progress how far it is, to be looked at until it ends
     */
    void begins(String what, int requests, Progress progress);

    /** A run has ended. */
    void ends(String what, Result result);
  }

  /**
   * One run.
   *
   * @param memory of the server while it went
   */
  public record Trial(Result result, MemorySampler.Memory memory) {}

  /** An engine's start, or something else that an interrupt ends. */
  @FunctionalInterface
  public interface Start<T, E extends Exception> {
    T start() throws E, InterruptedException;
  }

  /**
   * Reads something just before a run's clock starts, after its warm-ups, and again just after it
   * ended.
   */
  public static final class Meter<T> {
    private final Supplier<T> read;
    private @Nullable T before;
    private @Nullable T after;

    /**
     * @param read asked twice
     */
    public Meter(Supplier<T> read) {
      this.read = read;
    }

    private void begins() {
      before = read.get();
    }

    private void ends() {
      after = read.get();
    }

    /** What was read before the run. */
    public T before() {
      return Objects.requireNonNull(before, "no run has begun");
    }

    /** What was read after it. */
    public T after() {
      return Objects.requireNonNull(after, "no run has ended");
    }
  }

  /** Ends what goes on; nothing more begins. */
  public synchronized void stop() {
    stopped = true;
    if (running != null) {
      running.stop();
    }
    if (starting != null) {
      starting.interrupt();
    }
    if (questions != null) {
      questions.close();
    }
  }

  /** Whether it was ended. */
  public synchronized boolean stopped() {
    return stopped;
  }

  /**
   * Starts something that may take long, and gives it up when {@link #stop} is called.
   *
   * @return empty where it was given up
   */
  public <T, E extends Exception> Optional<T> starting(String what, Start<T, E> start) throws E {
    synchronized (this) {
      if (stopped) {
        return Optional.empty();
      }
      starting = Thread.currentThread();
    }
    listener.says(what);
    try {
      return Optional.of(start.start());
    } catch (InterruptedException e) {
      // By stop(): whoever asks for the next run is told.
      return Optional.empty();
    } finally {
      synchronized (this) {
        starting = null;
        // An interrupt that came too late is not for what follows.
        Thread.interrupted();
      }
    }
  }

  /**
   * Makes one run.
   *
   * @param what it is, in words
   * @return empty where {@link #stop} came before its clock started
   * @throws ServerUnusable where there is no server to measure
   * @throws DatasetRefused where there are no such prompts to be had
   */
  public Optional<Trial> run(String what, StartedEngine engine, int concurrency, int requests)
      throws ServerUnusable, DatasetRefused, InterruptedException {
    return run(what, engine, concurrency, requests, new Meter<>(() -> ""));
  }

  /**
   * Makes one run, and reads a meter around it.
   *
   * @return empty where {@link #stop} came before its clock started
   * @throws ServerUnusable where there is no server to measure
   * @throws DatasetRefused where there are no such prompts to be had
   */
  public <T> Optional<Trial> run(
      String what, StartedEngine engine, int concurrency, int requests, Meter<T> meter)
      throws ServerUnusable, DatasetRefused, InterruptedException {
    ServerUnderTest server = shape.requests().server(URI.create(engine.baseUrl()), engine.key());
    Optional<Dataset> prompted = dataset(server, engine.model());
    if (prompted.isEmpty()) {
      return Optional.empty();
    }
    Dataset all = prompted.get();
    int count = Math.min(requests, all.prompts().size());
    List<Prompt> prompts = Variants.of(all, "run-" + runs++).prompts().subList(0, count);
    RequestForm form = shape.requests().form(engine.model());
    Load load =
        new Load(
            engine.baseUrl(),
            engine.model(),
            form.endpoint().word(),
            all.description(),
            prompts.size(),
            concurrency,
            Double.POSITIVE_INFINITY,
            1,
            shape.dataset().seed());
    warm(server, form, load, all);
    Progress progress = new Progress();
    listener.begins(what, prompts.size(), progress);
    meter.begins();
    Trial trial = measured(engine, server, form, load, prompts, progress);
    meter.ends();
    listener.ends(what, trial.result());
    return Optional.of(trial);
  }

  private Trial measured(
      StartedEngine engine,
      ServerUnderTest server,
      RequestForm form,
      Load load,
      List<Prompt> prompts,
      Progress progress)
      throws ServerUnusable, InterruptedException {
    LoadPlan plan = LoadPlan.closed(load.maxConcurrency());
    OptionalInt slots = server.slots();
    Conditions conditions = new Conditions(slots, slots.isPresent() ? "llama-server's /props" : "");
    try (MemorySampler sampler = MemorySampler.start(engine::residentBytes, MemorySampler.EVERY)) {
      Run run = generate(server, form, load, plan, prompts, progress);
      return new Trial(
          Result.of(run, shape.goals(), shape.percents(), conditions, shape.metadata()),
          sampler.stop());
    }
  }

  private void warm(ServerUnderTest server, RequestForm form, Load load, Dataset all)
      throws ServerUnusable, InterruptedException {
    if (shape.warmups() == 0 || stopped()) {
      return;
    }
    int count = Math.min(shape.warmups(), all.prompts().size());
    List<Prompt> prompts = Variants.of(all, "warm-" + runs).prompts().subList(0, count);
    LoadPlan plan = LoadPlan.closed(Math.min(count, load.maxConcurrency()));
    generate(server, form, load, plan, prompts, new Progress());
  }

  private Run generate(
      ServerUnderTest server,
      RequestForm form,
      Load load,
      LoadPlan plan,
      List<Prompt> prompts,
      Progress progress)
      throws ServerUnusable, InterruptedException {
    LoadGenerator generator =
        new LoadGenerator(server, form, shape.limits(), shape.requests().keepAlive());
    synchronized (this) {
      running = generator;
      if (stopped) {
        generator.stop();
      }
    }
    try {
      return generator.run(load, plan, prompts, progress);
    } finally {
      synchronized (this) {
        running = null;
      }
    }
  }

  /** The prompts, which were made for the first server; empty where their making was ended. */
  private Optional<Dataset> dataset(ServerUnderTest server, String model) throws DatasetRefused {
    Dataset made = dataset;
    if (made != null) {
      return Optional.of(made);
    }
    try (Server asked = server.questions()) {
      synchronized (this) {
        if (stopped) {
          return Optional.empty();
        }
        questions = asked;
      }
      made = new Datasets(asked, model, DatasetLimits.DEFAULTS).make(shape.dataset());
    } catch (DatasetRefused e) {
      if (stopped()) {
        return Optional.empty();
      }
      throw e;
    } finally {
      synchronized (this) {
        questions = null;
      }
    }
    if (stopped()) {
      return Optional.empty();
    }
    made.notes().forEach(listener::says);
    dataset = made;
    return Optional.of(made);
  }

  /** The prompts that the runs' were made of; empty before the first run. */
  public Optional<Dataset> prompts() {
    return Optional.ofNullable(dataset);
  }
}
