package dev.flotilla.engine;

import dev.flotilla.engine.kv.BlockPool;
import dev.flotilla.engine.model.KvLayout;
import dev.flotilla.engine.model.Logits;
import dev.flotilla.engine.model.ModelRunner;
import dev.flotilla.engine.model.PackedStep;
import dev.flotilla.engine.sample.Alternatives;
import dev.flotilla.engine.sample.Sampler;
import dev.flotilla.engine.schedule.ScheduleLimits;
import dev.flotilla.engine.schedule.Scheduler;
import dev.flotilla.engine.schedule.Sequence;
import dev.flotilla.engine.schedule.StepPlan;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The engine: requests in, tokens out, one step after the other: schedule, run, choose tokens.
 *
 * <p><b>Threads.</b> One thread owns the scheduler, the blocks, the runner and what of a {@link
 * Generation} it writes; {@link #step} is called by it alone. Others hand requests and
 * cancellations over through queues, and read answers from the generations. Readers are woken
 * between steps, not in them.
 *
 * <p><b>Bounds.</b> At most {@link ScheduleLimits#openMax} answers are open; one more is refused,
 * so the queue of arrivals never fills, and cancellations are no more than open answers.
 *
 * <p><b>Failure.</b> A step that throws ends the answers that took part in it, and nobody else's;
 * nothing that it computed is shared. An answer whose form throws ends alone. After {@link
 * #FAILED_STEPS_MAX} such steps in a row, or an {@link Error}, the engine is {@link #failed}: open
 * answers end, new ones are refused, and health says so, so that whoever watches it starts it anew.
 *
 * <p>Invariants: an answer is counted as open from {@link #submit} until its ending is published,
 * once; when none is open all blocks are free. A step allocates nothing but for answers that grow
 * beyond what they had room for.
 */
public final class Engine implements AutoCloseable {
  /** Steps in a row that may fail before the engine counts as broken. */
  public static final int FAILED_STEPS_MAX = 3;

  private static final long SEED_STEP = 0x632BE59BD9B4E019L;

  private static final Logger log = System.getLogger(Engine.class.getName());

  private final ModelRunner runner;
  private final LongSupplier nanoClock;
  private final BlockPool pool;
  private final Scheduler scheduler;
  private final ScheduleLimits limits;
  private final StepPlan plan;
  private final PackedStep packed;
  private final Logits logits;
  private final Sampler sampler;

  /** Logits as the model gave them, of an answer that tells log-probabilities. */
  private final float[] untouched;

  private final Alternatives alternatives = new Alternatives(GenerationRequest.LOGPROBS_MAX);
  private final EngineCounts counts = new EngineCounts();
  private final AtomicInteger open = new AtomicInteger();
  private final Queue<Generation> arrivals;
  private final Queue<Generation> cancellations = new ConcurrentLinkedQueue<>();

  /** Whose readers are to be woken after the step. */
  private final @Nullable Generation[] news;

  private int newsCount;

  /** Guarded by the arrivals: nothing is handed over any more. */
  private boolean over;

  private int failedSteps;
  private volatile @Nullable Thread thread;
  private volatile boolean closed;
  private volatile String failure = "";

  /**
   * An engine that does nothing yet.
   *
   * @param contextMax tokens that an answer and its prompt have together at most
   * @throws IllegalArgumentException where the model can't see that many
   */
  public Engine(ModelRunner runner, ScheduleLimits limits, int contextMax, LongSupplier nanoClock) {
    if (contextMax < 2 || contextMax > runner.contextMax()) {
      throw new IllegalArgumentException(
          "a context of " + contextMax + " tokens, and the model has " + runner.contextMax());
    }
    this.runner = runner;
    this.limits = limits;
    this.nanoClock = nanoClock;
    pool = new BlockPool(runner.kvBlocks(), KvLayout.PAGE_TOKENS);
    scheduler = new Scheduler(pool, limits, contextMax);
    plan = new StepPlan(limits.sequencesMax());
    int blocksEach = KvLayout.blocksFor(scheduler.lengthMax());
    packed = new PackedStep(limits.rowsMax(), limits.sequencesMax(), blocksEach);
    logits = new Logits(limits.sequencesMax(), runner.vocabulary());
    sampler = new Sampler(runner.vocabulary());
    untouched = new float[runner.vocabulary()];
    arrivals = new ArrayBlockingQueue<>(limits.openMax());
    news = new Generation[2 * limits.openMax()];
    counts.blocksFree = pool.free();
  }

  // ---- for those who want answers

  /** Tokens that a prompt and its answer may have together. */
  public int contextMax() {
    return scheduler.lengthMax();
  }

  /** Numbers of a vector. */
  public int width() {
    return runner.width();
  }

  /** Tokens that the model knows. */
  public int vocabulary() {
    return runner.vocabulary();
  }

  /** Blocks of the cache. */
  public int blocks() {
    return pool.blocks();
  }

  /** How much the engine takes on. */
  public ScheduleLimits limits() {
    return limits;
  }

  /** What it has done. */
  public EngineCounts counts() {
    return counts;
  }

  /** Why the engine can't answer any more; empty while it can. */
  public String failed() {
    return failure;
  }

  /**
   * Asks for answers to one prompt: {@code count} of them, the first with the request's seed, the
   * others with seeds that follow from it. Only the first computes the prompt.
   *
   * @param wakeup is signalled when there is more to read
   * @throws RequestRefused where the prompt can never fit, or too much waits already
   */
  public List<Generation> submit(GenerationRequest request, int count, Wakeup wakeup) {
    check(request);
    long nanos = nanoClock.getAsLong();
    Generation[] followers = new Generation[count - 1];
    for (int i = 1; i < count; i++) {
      GenerationRequest next = request.withSeed(request.sampling().seed() + i * SEED_STEP);
      followers[i - 1] = generation(next, wakeup, nanos, true, new Generation[0]);
    }
    Generation first = generation(request, wakeup, nanos, false, followers);
    handOver(first, count);
    wake();
    List<Generation> all = new ArrayList<>(count);
    all.add(first);
    all.addAll(List.of(followers));
    return all;
  }

  private Generation generation(
      GenerationRequest request,
      Wakeup wakeup,
      long nanos,
      boolean follows,
      Generation[] followers) {
    return new Generation(pool, request, runner.width(), wakeup, nanos, follows, followers);
  }

  private void handOver(Generation first, int count) {
    synchronized (arrivals) {
      if (over) {
        throw RequestRefused.busy(endedWhy());
      }
      if (open.get() + count > limits.openMax()) {
        counts.refused.getAndIncrement();
        throw RequestRefused.busy(
            "%d answers are under way or wait, and %d may: try again later"
                .formatted(open.get(), limits.openMax()));
      }
      open.addAndGet(count);
      arrivals.add(first);
    }
  }

  private String endedWhy() {
    return failure.isEmpty() ? "the engine ends" : "the engine has failed: " + failure;
  }

  private void check(GenerationRequest request) {
    for (int token : request.prompt()) {
      if (token < 0 || token >= runner.vocabulary()) {
        throw RequestRefused.field(
            "prompt",
            "token %d is not one of the model's %d".formatted(token, runner.vocabulary()));
      }
    }
    if (request.pooling() != Pooling.NONE) {
      checkInput(request.prompt().length);
    } else if (!scheduler.fits(request.prompt().length)) {
      throw RequestRefused.context(
          "the prompt has %d tokens, and prompt and answer have %d together at most"
              .formatted(request.prompt().length, scheduler.lengthMax()));
    }
  }

  /**
   * Refuses a text that is too long for a vector.
   *
   * @throws RequestRefused where it has more tokens than the context
   */
  public void checkInput(int tokens) {
    if (tokens > scheduler.lengthMax()) {
      throw RequestRefused.context(
          "input",
          "a text of the input has %d tokens, and a text has %d at most"
              .formatted(tokens, scheduler.lengthMax()));
    }
  }

  /**
   * Nobody wants the answer any more: its blocks are free after the step that runs, if one does.
   */
  public void cancel(Generation generation) {
    if (generation.ending() == null) {
      cancellations.add(generation);
      wake();
    }
  }

  /**
   * The answer has all that is wanted of it, though the model would go on: it ends as one that
   * stopped.
   */
  public void finish(Generation generation) {
    generation.finished();
    cancel(generation);
  }

  private void wake() {
    LockSupport.unpark(thread);
  }

  // ---- the engine's thread

  /** Starts the engine's thread; once. */
  public Engine start() {
    Thread started = Thread.ofPlatform().name("engine").daemon().unstarted(this::run);
    thread = started;
    started.start();
    return this;
  }

  private void run() {
    try {
      while (!closed && failure.isEmpty()) {
        if (!step()) {
          park();
        }
        deliver();
      }
    } catch (RuntimeException | Error broken) {
      log.log(Level.ERROR, "the engine's thread ends", broken);
      failure = "its thread ended with " + broken;
    } finally {
      endAll();
    }
  }

  /** Until something arrives; a signal that came before is not lost. */
  private void park() {
    while (!closed && arrivals.isEmpty() && cancellations.isEmpty()) {
      LockSupport.park(this);
    }
  }

  /** One step: false where there was nothing to do. */
  public boolean step() {
    receive();
    scheduler.schedule(plan);
    boolean works = plan.size() > 0;
    if (works) {
      compute();
    }
    // Where a sequence gave way to others and nothing was computed, the next step has work.
    boolean more = works || scheduler.running() + scheduler.waiting() > 0;
    count();
    return more;
  }

  private void receive() {
    Generation arrived = arrivals.poll();
    while (arrived != null) {
      enqueue(arrived);
      arrived = arrivals.poll();
    }
    Generation cancelled = cancellations.poll();
    while (cancelled != null) {
      // Else it ended by itself in the meantime.
      if (cancelled.state() != Sequence.State.ENDED) {
        end(cancelled, cancelled.isFinished() ? Ending.STOP : Ending.CANCELLED, "");
      }
      cancelled = cancellations.poll();
    }
  }

  private void enqueue(Generation generation) {
    if (generation.state() == Sequence.State.NEW && !scheduler.add(generation)) {
      throw new IllegalStateException("more answers are open than may be");
    }
  }

  private void compute() {
    long nanos = nanoClock.getAsLong();
    for (int i = 0; i < plan.size(); i++) {
      ((Generation) plan.sequence(i)).begins(nanos);
    }
    try {
      plan.writeTo(packed);
      runner.run(packed, logits);
    } catch (RuntimeException broken) {
      stepFailed(broken);
      return;
    }
    failedSteps = 0;
    choose();
  }

  private void stepFailed(RuntimeException broken) {
    failedSteps++;
    log.log(Level.ERROR, "a step failed: " + packed, broken);
    for (int i = 0; i < plan.size(); i++) {
      end((Generation) plan.sequence(i), Ending.FAILED, "a step of the model failed");
    }
    if (failedSteps >= FAILED_STEPS_MAX) {
      failure = failedSteps + " steps failed in a row, the last with " + broken;
    }
  }

  private void choose() {
    countRows();
    scheduler.ran(plan);
    long nanos = nanoClock.getAsLong();
    int row = 0;
    for (int i = 0; i < plan.size(); i++) {
      Generation generation = (Generation) plan.sequence(i);
      if (generation.pending() > 0) {
        continue;
      }
      if (generation.sum() != null) {
        counts.promptTokens.addAndGet(generation.promptLength());
        end(generation, Ending.STOP, "");
      } else {
        choose(generation, logits.row(row), nanos);
        row++;
      }
    }
    counts.steps.getAndIncrement();
  }

  private void choose(Generation generation, float[] row, long nanos) {
    GenerationRequest request = generation.request();
    boolean tells = request.logprobs() >= 0;
    if (tells) {
      alternatives.fill(row, request.logprobs());
      System.arraycopy(row, 0, untouched, 0, row.length);
    }
    if (!restrict(generation, row)) {
      return;
    }
    int token =
        sampler.next(
            row,
            request.sampling(),
            generation.tokens(),
            generation.promptLength(),
            generation.length());
    if (token == Sampler.NONE) {
      end(generation, Ending.FAILED, "the model's logits leave no token to choose");
      return;
    }
    boolean first = generation.answerLength() == 0;
    long before = first ? generation.arrivedNanos() : generation.lastTokenNanos();
    generation.add(token, tells ? untouched[token] : 0, alternatives, nanos);
    (first ? counts.timeToFirstToken : counts.interToken)
        .observe(EngineCounts.seconds(nanos - before));
    counts.generatedTokens.getAndIncrement();
    if (first) {
      counts.promptTokens.addAndGet(generation.promptLength());
      follow(generation);
    }
    Ending ending;
    try {
      ending = generation.after(token, scheduler.lengthMax());
    } catch (RuntimeException broken) {
      formFailed(generation, broken);
      return;
    }
    if (ending != null) {
      end(generation, ending, "");
    } else {
      generation.publish();
      tell(generation);
    }
  }

  /** Forbids what the request doesn't want; false where its form failed, and the answer with it. */
  private boolean restrict(Generation generation, float[] row) {
    try {
      generation.restrict(row);
      return true;
    } catch (RuntimeException broken) {
      formFailed(generation, broken);
      return false;
    }
  }

  /** A form is made of what a client sent: what goes wrong with it is this answer's alone. */
  private void formFailed(Generation generation, RuntimeException broken) {
    log.log(Level.WARNING, "an answer's form failed", broken);
    end(generation, Ending.FAILED, "the form that the answer has to have: " + broken.getMessage());
  }

  /** The prompt is computed: the other answers to it begin. */
  private void follow(Generation generation) {
    for (Generation follower : generation.followers()) {
      enqueue(follower);
    }
  }

  private void end(Generation generation, Ending how, String why) {
    if (generation.answerLength() == 0) {
      follow(generation);
    }
    scheduler.end(generation);
    counts.ended(generation, how, nanoClock.getAsLong());
    generation.end(how, why);
    open.decrementAndGet();
    tell(generation);
  }

  private void tell(Generation generation) {
    if (newsCount == news.length) {
      deliver();
    }
    news[newsCount] = generation;
    newsCount++;
  }

  /** Wakes those for whom the step had something. */
  void deliver() {
    for (int i = 0; i < newsCount; i++) {
      Generation generation = news[i];
      if (generation != null) {
        generation.wakeup().signal();
      }
      news[i] = null;
    }
    newsCount = 0;
  }

  private void countRows() {
    for (int i = 0; i < plan.size(); i++) {
      Sequence sequence = plan.sequence(i);
      int ofPrompt = Math.min(plan.rows(i), sequence.promptLength() - sequence.computed());
      counts.promptTokensComputed.addAndGet(Math.max(0, ofPrompt));
    }
  }

  private void count() {
    counts.running = scheduler.running();
    counts.waiting = scheduler.waiting();
    counts.blocksFree = pool.free();
    counts.preemptions = scheduler.preemptions();
    counts.queriedTokens = scheduler.queriedTokens();
    counts.cachedTokens = scheduler.cachedTokens();
  }

  private void endAll() {
    synchronized (arrivals) {
      over = true;
    }
    String why = endedWhy();
    receive();
    while (scheduler.running() + scheduler.waiting() > 0) {
      end((Generation) scheduler.any(), Ending.FAILED, why);
    }
    count();
    deliver();
  }

  /** Throws where an invariant of the scheduler or of the pool does not hold: for tests. */
  void checkInvariants() {
    scheduler.checkInvariants(plan);
  }

  /** Ends the thread after the step that runs; open answers end with it. */
  @Override
  public void close() {
    closed = true;
    wake();
    Thread running = thread;
    if (running == null) {
      endAll();
      return;
    }
    ThreadEnd.await(running);
  }
}
