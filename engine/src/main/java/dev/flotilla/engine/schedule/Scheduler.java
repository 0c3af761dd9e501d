package dev.flotilla.engine.schedule;

import dev.flotilla.engine.kv.BlockPool;
import dev.flotilla.engine.schedule.Sequence.State;
import org.jspecify.annotations.Nullable;

/**
 * Decides what the next step computes: vLLM V1's single budget of tokens per step.
 *
 * <p><b>Order.</b> There is one: by priority, then by arrival. Where all priorities are equal it is
 * first come, first served. Sequences that run stand in this order, so the last of them is the one
 * that gives way, and one that gave way is the first to come back.
 *
 * <p><b>A step.</b> First every running sequence of which one token is to be computed: answers go
 * on in every step, whatever prompts are under way. Then what the budget leaves goes to prompts, in
 * chunks, in order. Then, if nothing gave way in this step, waiting sequences are admitted.
 *
 * <p><b>Memory.</b> A sequence is admitted only when there are blocks for all of its tokens and one
 * more for every sequence that runs; it takes its own at once, so a prompt under way never lacks
 * any. An answer takes a block whenever it fills one. Where none is free the last running sequence
 * gives way: its blocks go back, and it is computed anew later, most of it from the cache.
 *
 * <p><b>No standstill.</b> A sequence that needs more blocks than the pool has is refused on
 * arrival ({@link #fits(int)}), and none grows beyond {@link #lengthMax}. So the first running
 * sequence always gets what it needs, if need be from all others, and with it every step makes
 * progress.
 *
 * <p>Invariants, held by {@link #checkInvariants}: a step has no more tokens than the budget; no
 * more sequences run than may; a sequence runs or waits or has ended, and stands in that list
 * alone; blocks are held by running sequences only; the pool's own.
 *
 * <p>Used by one thread. No method allocates but for a sequence's own growth.
 */
public final class Scheduler {
  private final BlockPool pool;
  private final ScheduleLimits limits;
  private final int lengthMax;
  private final @Nullable Sequence[] running;
  private final WaitingLine waiting;
  private int runningCount;
  private long arrivals;
  private long preemptions;
  private long queriedTokens;
  private long cachedTokens;

  /**
   * A scheduler without sequences.
   *
   * @param contextMax tokens that the model can see at most
   */
  public Scheduler(BlockPool pool, ScheduleLimits limits, int contextMax) {
    this.pool = pool;
    this.limits = limits;
    this.lengthMax = Math.min(contextMax, pool.blocks() * pool.blockTokens());
    this.running = new Sequence[limits.sequencesMax()];
    // All that run may have to wait again.
    this.waiting = new WaitingLine(limits.openMax());
  }

  /** Tokens that a sequence may have, prompt and answer: the context, or what the pool holds. */
  public int lengthMax() {
    return lengthMax;
  }

  /** Whether a prompt can run at all, with one token of an answer. */
  public boolean fits(int promptLength) {
    return promptLength < lengthMax;
  }

  private boolean fits(Sequence sequence) {
    return sequence.sum() == null
        ? fits(sequence.promptLength())
        : sequence.promptLength() <= lengthMax;
  }

  /** How many sequences run. */
  public int running() {
    return runningCount;
  }

  /** How many sequences wait. */
  public int waiting() {
    return waiting.size();
  }

  /** How often a sequence gave way. */
  public long preemptions() {
    return preemptions;
  }

  /** Tokens of admitted sequences that were looked for in the cache. */
  public long queriedTokens() {
    return queriedTokens;
  }

  /** Tokens of admitted sequences that the cache had. */
  public long cachedTokens() {
    return cachedTokens;
  }

  /**
   * Lets a sequence wait for its turn; false where too many wait already.
   *
   * @throws IllegalArgumentException where it does not {@link #fits(int) fit}, or, where a vector
   *     is made of it, has more than {@link #lengthMax} tokens
   */
  public boolean add(Sequence sequence) {
    if (!fits(sequence)) {
      throw new IllegalArgumentException(
          "a prompt of " + sequence.promptLength() + " tokens where " + lengthMax + " fit");
    }
    if (waiting.size() + runningCount >= limits.openMax()) {
      return false;
    }
    arrivals++;
    sequence.arrived(arrivals);
    waiting.add(sequence);
    return true;
  }

  /** Fills the plan of the next step; an empty one where nothing waits or runs. */
  public void schedule(StepPlan plan) {
    plan.clear();
    long preemptedBefore = preemptions;
    answers(plan);
    prompts(plan);
    if (preemptions == preemptedBefore) {
      admit(plan);
    }
  }

  private void answers(StepPlan plan) {
    for (int i = 0; i < runningCount; i++) {
      Sequence sequence = runningAt(i);
      if (sequence.pending() == 1 && makeRoom(sequence)) {
        plan.add(sequence, 1);
      }
    }
  }

  /** Blocks for the whole sequence; others give way for it, or where it is the last one, itself. */
  private boolean makeRoom(Sequence sequence) {
    while (!sequence.table().extend(sequence.length())) {
      Sequence last = runningAt(runningCount - 1);
      preempt(last);
      if (last.equals(sequence)) {
        return false;
      }
    }
    return true;
  }

  private void preempt(Sequence sequence) {
    runningCount--;
    running[runningCount] = null;
    sequence.preempted();
    waiting.add(sequence);
    preemptions++;
  }

  private void prompts(StepPlan plan) {
    for (int i = 0; i < runningCount; i++) {
      Sequence sequence = runningAt(i);
      if (sequence.pending() > 1) {
        int rows = Math.min(sequence.pending(), limits.rowsMax() - plan.rowCount());
        if (rows == 0) {
          return;
        }
        plan.add(sequence, rows);
      }
    }
  }

  private void admit(StepPlan plan) {
    while (waiting.size() > 0
        && runningCount < limits.sequencesMax()
        && plan.rowCount() < limits.rowsMax()) {
      Sequence sequence = waiting.first();
      // The last token is always computed: its logits say what comes next.
      int reusable = sequence.wantsAllRows() ? 0 : sequence.length() - 1;
      int cached = sequence.table().adopt(sequence.tokens(), reusable);
      int reserve = runningCount;
      if (sequence.table().missing(sequence.length()) + reserve > pool.free()) {
        sequence.table().release();
        return;
      }
      sequence.table().extend(sequence.length());
      waiting.remove(sequence);
      sequence.admitted(cached);
      queriedTokens += sequence.length();
      cachedTokens += cached;
      insert(sequence);
      plan.add(sequence, Math.min(sequence.pending(), limits.rowsMax() - plan.rowCount()));
    }
  }

  private void insert(Sequence sequence) {
    int place = runningCount;
    while (place > 0 && sequence.comesBefore(runningAt(place - 1))) {
      running[place] = running[place - 1];
      place--;
    }
    running[place] = sequence;
    runningCount++;
  }

  /**
   * The step was run: what it computed is there for all. Before {@link #schedule} is called again.
   */
  public void ran(StepPlan plan) {
    for (int i = 0; i < plan.size(); i++) {
      Sequence sequence = plan.sequence(i);
      if (sequence.state() == State.RUNNING) {
        sequence.ran(plan.rows(i));
      }
    }
  }

  /**
   * Takes a sequence out, whatever it is doing; its blocks are free at once. Nothing if it has
   * ended.
   */
  public void end(Sequence sequence) {
    if (sequence.state() == State.RUNNING) {
      int place = 0;
      while (!sequence.equals(running[place])) {
        place++;
      }
      runningCount--;
      System.arraycopy(running, place + 1, running, place, runningCount - place);
      running[runningCount] = null;
    } else if (sequence.state() == State.WAITING && !waiting.remove(sequence)) {
      throw new IllegalArgumentException("a sequence of another scheduler");
    }
    sequence.ended();
  }

  /** One of those that run or wait: for a scheduler that is to be emptied. */
  public Sequence any() {
    return runningCount > 0 ? runningAt(0) : waiting.first();
  }

  private Sequence runningAt(int place) {
    Sequence sequence = running[place];
    if (sequence == null) {
      throw new IndexOutOfBoundsException(place);
    }
    return sequence;
  }

  /** Throws where the class's invariants, or the pool's, don't hold: for tests. */
  public void checkInvariants(StepPlan plan) {
    require(plan.rowCount() <= limits.rowsMax(), "a step of " + plan.rowCount() + " tokens");
    require(runningCount <= limits.sequencesMax(), runningCount + " sequences run");
    int[] held = new int[pool.blocks()];
    for (int i = 0; i < runningCount; i++) {
      Sequence sequence = runningAt(i);
      require(sequence.state() == State.RUNNING, "one that runs is " + sequence.state());
      require(
          sequence.table().size() >= pool.blocksFor(sequence.computed()),
          "computed without blocks");
      require(sequence.length() <= lengthMax + 1, "a length of " + sequence.length());
      require(i == 0 || runningAt(i - 1).comesBefore(sequence), "running out of order");
      sequence.table().countInto(held);
    }
    for (int i = 0; i < waiting.size(); i++) {
      Sequence sequence = waiting.at(i);
      require(sequence.state() == State.WAITING, "one that waits is " + sequence.state());
      require(sequence.table().size() == 0, "one that waits has blocks");
      require(i == 0 || !sequence.comesBefore(waiting.at((i - 1) / 2)), "waiting out of order");
    }
    pool.checkInvariants(held);
  }

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException(what);
    }
  }
}
