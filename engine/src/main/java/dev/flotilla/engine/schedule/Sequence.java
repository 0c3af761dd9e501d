package dev.flotilla.engine.schedule;

import dev.flotilla.engine.kv.BlockPool;
import dev.flotilla.engine.kv.BlockTable;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One answer in the making: its tokens, prompt and answer in one row, how many of them are
 * computed, and the blocks that these lie in.
 *
 * <p>There are no phases of prompt and answer: {@link #computed} runs after {@link #length}, and
 * when it has caught up the logits of the last token say what the next one is, or the vector of a
 * text is whole. A preempted sequence is one whose {@code computed} is zero again.
 *
 * <p>Life: {@code NEW → WAITING → RUNNING → ENDED}, and from {@code RUNNING} back to {@code
 * WAITING} when its blocks are needed elsewhere. Written by the engine's thread alone.
 *
 * <p>Invariants: {@code computed < length} but for the moment between a step and its next token;
 * blocks are held only while RUNNING, and then have room for {@code computed} tokens at least.
 */
public class Sequence {
  /** Where a sequence stands. */
  public enum State {
    NEW,
    WAITING,
    RUNNING,
    ENDED
  }

  private final int priority;
  private final int promptLength;
  private final BlockTable table;
  private int[] tokens;
  private int length;
  private int computed;
  private int cached;
  private int preemptions;
  private State state = State.NEW;
  private long arrival;

  /**
   * A sequence that no scheduler knows yet.
   *
   * @param prompt its first tokens, at least one; copied
   * @param root what its blocks stand on, see {@link BlockTable}
   * @param priority lower goes first; among equals the one that came first
   */
  public Sequence(BlockPool pool, int[] prompt, long root, int priority) {
    if (prompt.length == 0) {
      throw new IllegalArgumentException("a sequence begins with a token at least");
    }
    this.tokens = Arrays.copyOf(prompt, prompt.length + 64);
    this.promptLength = prompt.length;
    this.length = prompt.length;
    this.priority = priority;
    this.table = new BlockTable(pool, root);
  }

  /** All tokens; what stands behind {@link #length} means nothing. Not to be written. */
  public final int[] tokens() {
    return tokens;
  }

  /** How many tokens there are, prompt and answer. */
  public final int length() {
    return length;
  }

  /** How many tokens the prompt has. */
  public final int promptLength() {
    return promptLength;
  }

  /** How many tokens lie computed in the blocks. */
  public final int computed() {
    return computed;
  }

  /** How many tokens are to be computed before the next one is known. */
  public final int pending() {
    return length - computed;
  }

  /** How many of the prompt's tokens the cache had when the sequence was first admitted. */
  public final int cached() {
    return cached;
  }

  /** How often its blocks were taken from it. */
  public final int preemptions() {
    return preemptions;
  }

  /** Where it stands. */
  public final State state() {
    return state;
  }

  /**
   * What its rows are added up in, where a vector is made of them; null where the last row's logits
   * are wanted.
   */
  public double @Nullable [] sum() {
    return null;
  }

  /** Whether something is wanted of every row, and so none may come from the cache. */
  public boolean wantsAllRows() {
    return false;
  }

  /** Its blocks. */
  public final BlockTable table() {
    return table;
  }

  /**
   * A token of the answer; the row of tokens grows by doubling, the one thing here that allocates.
   */
  protected final void append(int token) {
    if (length == tokens.length) {
      tokens = Arrays.copyOf(tokens, length * 2);
    }
    tokens[length] = token;
    length++;
  }

  final void arrived(long order) {
    arrival = order;
    state = State.WAITING;
  }

  final boolean comesBefore(Sequence other) {
    return priority != other.priority ? priority < other.priority : arrival < other.arrival;
  }

  final void admitted(int fromCache) {
    state = State.RUNNING;
    computed = fromCache;
    if (preemptions == 0) {
      cached = fromCache;
    }
  }

  final void preempted() {
    table.release();
    computed = 0;
    double[] sum = sum();
    if (sum != null) {
      Arrays.fill(sum, 0);
    }
    preemptions++;
    state = State.WAITING;
  }

  final void ended() {
    table.release();
    state = State.ENDED;
  }

  final void ran(int rows) {
    computed += rows;
    table.publish(tokens, computed);
  }
}
