package dev.flotilla.engine;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the engine has done so far, in vLLM's terms. Written by the engine's thread after each step,
 * read by any; each number is right, two of them may be of different steps.
 */
public final class EngineCounts {
  private static final double[] TTFT = {
    .001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640,
    2560
  };
  private static final double[] PER_TOKEN = {
    .01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80
  };
  private static final double[] PER_REQUEST = {
    .3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680
  };

  private final Map<Ending, AtomicLong> ended = new EnumMap<>(Ending.class);

  final Histogram timeToFirstToken = new Histogram(TTFT);
  final Histogram interToken = new Histogram(PER_TOKEN);
  final Histogram timePerToken = new Histogram(PER_TOKEN);
  final Histogram endToEnd = new Histogram(PER_REQUEST);
  final Histogram queued = new Histogram(PER_REQUEST);
  final Histogram prefill = new Histogram(PER_REQUEST);
  final Histogram decode = new Histogram(PER_REQUEST);

  volatile int running;
  volatile int waiting;
  volatile int blocksFree;
  volatile long preemptions;
  volatile long queriedTokens;
  volatile long cachedTokens;
  final AtomicLong promptTokens = new AtomicLong();
  final AtomicLong promptTokensComputed = new AtomicLong();
  final AtomicLong generatedTokens = new AtomicLong();
  final AtomicLong steps = new AtomicLong();
  final AtomicLong refused = new AtomicLong();

  EngineCounts() {
    for (Ending how : Ending.values()) {
      ended.put(how, new AtomicLong());
    }
  }

  private AtomicLong endedBy(Ending how) {
    return Objects.requireNonNull(ended.get(how));
  }

  /** Sequences that run. */
  public int running() {
    return running;
  }

  /** Sequences that wait. */
  public int waiting() {
    return waiting;
  }

  /** Blocks that nobody holds. */
  public int blocksFree() {
    return blocksFree;
  }

  /** How often a sequence gave way. */
  public long preemptions() {
    return preemptions;
  }

  /** Tokens that were looked for in the prefix cache. */
  public long queriedTokens() {
    return queriedTokens;
  }

  /** Tokens that the prefix cache had. */
  public long cachedTokens() {
    return cachedTokens;
  }

  /** Tokens of the prompts of admitted requests. */
  public long promptTokens() {
    return promptTokens.get();
  }

  /** Tokens of prompts that were computed, again after a preemption included. */
  public long promptTokensComputed() {
    return promptTokensComputed.get();
  }

  /** Tokens of answers. */
  public long generatedTokens() {
    return generatedTokens.get();
  }

  /** Steps that computed something. */
  public long steps() {
    return steps.get();
  }

  /** Requests that were refused because too many were there. */
  public long refused() {
    return refused.get();
  }

  /** Answers that ended so. */
  public long ended(Ending how) {
    return endedBy(how).get();
  }

  /** Arrival to first token, in seconds. */
  public Histogram timeToFirstToken() {
    return timeToFirstToken;
  }

  /** From token to token, in seconds. */
  public Histogram interToken() {
    return interToken;
  }

  /** Of each answer its time per token after the first, in seconds. */
  public Histogram timePerToken() {
    return timePerToken;
  }

  /** Arrival to end, in seconds. */
  public Histogram endToEnd() {
    return endToEnd;
  }

  /** Arrival to admission, in seconds. */
  public Histogram queued() {
    return queued;
  }

  /** Admission to first token, in seconds. */
  public Histogram prefill() {
    return prefill;
  }

  /** First token to last, in seconds. */
  public Histogram decode() {
    return decode;
  }

  void ended(Generation generation, Ending how, long nanos) {
    endedBy(how).getAndIncrement();
    if (how == Ending.CANCELLED || how == Ending.FAILED) {
      return;
    }
    endToEnd.observe(seconds(nanos - generation.arrivedNanos()));
    queued.observe(seconds(generation.admittedNanos() - generation.arrivedNanos()));
    if (generation.sum() != null) {
      return; // it has no tokens whose times could be told
    }
    prefill.observe(seconds(generation.firstTokenNanos() - generation.admittedNanos()));
    long decoding = generation.lastTokenNanos() - generation.firstTokenNanos();
    decode.observe(seconds(decoding));
    if (generation.answerLength() > 1) {
      timePerToken.observe(seconds(decoding) / (generation.answerLength() - 1));
    }
  }

  static double seconds(long nanos) {
    return nanos / 1e9;
  }
}
