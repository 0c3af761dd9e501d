package dev.flotilla.engine;

import dev.flotilla.engine.kv.BlockPool;
import dev.flotilla.engine.sample.Alternatives;
import dev.flotilla.engine.sample.Sampler;
import dev.flotilla.engine.sample.TokenMask;
import dev.flotilla.engine.schedule.Sequence;
import java.util.Arrays;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One answer: what the engine writes token by token, and one reader reads. Or one vector, which is
 * there when it has ended.
 *
 * <p>What the reader has not read yet waits in the answer itself, which is bounded by the tokens
 * that were asked for: there is no queue that could be full, and a slow reader holds up nobody. The
 * engine's thread writes tokens, then {@link #published}; the reader reads {@code published}, then
 * tokens. Once {@link #ending} is there nothing changes any more.
 */
public final class Generation extends Sequence {
  private final GenerationRequest request;
  private final @Nullable TokenMask form;
  private final Wakeup wakeup;
  private final Generation[] followers;
  private final boolean follows;
  private final long arrivedNanos;

  /** What the rows of the text add up to; null where an answer is wanted. */
  private final double @Nullable [] sum;

  private int @Nullable [] alternativeTokens;
  private float @Nullable [] alternativeLogprobs;
  private float[] logprobs;
  private volatile int published;
  private volatile @Nullable Ending ending;
  private volatile int stopToken = Sampler.NONE;
  private volatile String failure = "";
  private volatile long admittedNanos;
  private volatile long firstTokenNanos;
  private long lastTokenNanos;

  /** The reader has what it wanted. */
  private volatile boolean finished;

  Generation(
      BlockPool pool,
      GenerationRequest request,
      int width,
      Wakeup wakeup,
      long nanos,
      boolean follows,
      Generation[] followers) {
    super(pool, request.prompt(), request.root(), request.priority());
    this.request = request;
    this.form = request.form().map(Supplier::get).orElse(null);
    this.wakeup = wakeup;
    this.follows = follows;
    this.followers = followers;
    this.arrivedNanos = nanos;
    this.sum = request.pooling() == Pooling.NONE ? null : new double[width];
    int expected = request.logprobs() < 0 ? 0 : Math.min(64, request.maxTokens());
    logprobs = new float[expected];
    if (request.logprobs() > 0) {
      alternativeTokens = new int[expected * request.logprobs()];
      alternativeLogprobs = new float[expected * request.logprobs()];
    }
  }

  // ---- for the reader

  /** How many of the answer's tokens can be read. */
  public int published() {
    return published;
  }

  /** A token of the answer, one that is {@link #published}. */
  public int token(int place) {
    return tokens()[promptLength() + place];
  }

  /** The log-probability of the token at a place, where they were asked for. */
  public float logprob(int place) {
    return logprobs[place];
  }

  /** One of the likeliest tokens of a place, the likeliest first. */
  public int alternative(int place, int rank) {
    int[] tokens = alternativeTokens;
    if (tokens == null || rank >= request.logprobs()) {
      throw new IndexOutOfBoundsException(rank);
    }
    return tokens[place * request.logprobs() + rank];
  }

  /** The log-probability of the same token. */
  public float alternativeLogprob(int place, int rank) {
    float[] values = alternativeLogprobs;
    if (values == null || rank >= request.logprobs()) {
      throw new IndexOutOfBoundsException(rank);
    }
    return values[place * request.logprobs() + rank];
  }

  /** Why the answer ended; null while it goes on. When it is there, all tokens are. */
  public @Nullable Ending ending() {
    return ending;
  }

  /**
   * The token that the request wanted to end the answer, and did; {@link Sampler#NONE} for none.
   */
  public int stopToken() {
    return stopToken;
  }

  /** What went wrong, where the answer {@link Ending#FAILED}. */
  public String failure() {
    return failure;
  }

  /** Whether the prompt was computed for another answer, which this one follows. */
  public boolean follows() {
    return follows;
  }

  /** The sum of what its rows have become, of a vector that has ended with {@link Ending#STOP}. */
  @Override
  public double @Nullable [] sum() {
    return sum;
  }

  @Override
  public boolean wantsAllRows() {
    return request.pooling() == Pooling.MEAN;
  }

  /** What was asked for. */
  public GenerationRequest request() {
    return request;
  }

  // ---- for the engine

  long arrivedNanos() {
    return arrivedNanos;
  }

  long admittedNanos() {
    return admittedNanos;
  }

  long firstTokenNanos() {
    return firstTokenNanos;
  }

  long lastTokenNanos() {
    return lastTokenNanos;
  }

  Generation[] followers() {
    return followers;
  }

  Wakeup wakeup() {
    return wakeup;
  }

  void finished() {
    finished = true;
  }

  boolean isFinished() {
    return finished;
  }

  void begins(long nanos) {
    if (admittedNanos == 0) {
      admittedNanos = nanos;
    }
  }

  /** How many tokens the answer has, published or not. */
  int answerLength() {
    return length() - promptLength();
  }

  void restrict(float[] logits) {
    if (form != null) {
      Sampler.mask(logits, form.allowed());
    }
    boolean early = answerLength() < request.minTokens();
    if (early || request.endless()) {
      Sampler.forbid(logits, request.ends());
    }
    if (early) {
      Sampler.forbid(logits, request.stops());
    }
  }

  void add(int token, float raw, Alternatives alternatives, long nanos) {
    int place = answerLength();
    append(token);
    if (request.logprobs() >= 0) {
      store(place, raw, alternatives);
    }
    if (firstTokenNanos == 0) {
      firstTokenNanos = nanos;
    }
    lastTokenNanos = nanos;
  }

  private void store(int place, float raw, Alternatives alternatives) {
    if (place == logprobs.length) {
      logprobs = Arrays.copyOf(logprobs, Math.max(64, place * 2));
    }
    logprobs[place] = alternatives.logprobOf(raw);
    int each = request.logprobs();
    int[] tokens = alternativeTokens;
    float[] values = alternativeLogprobs;
    if (tokens == null || values == null) {
      return;
    }
    if ((place + 1) * each > tokens.length) {
      tokens = Arrays.copyOf(tokens, logprobs.length * each);
      values = Arrays.copyOf(values, logprobs.length * each);
      alternativeTokens = tokens;
      alternativeLogprobs = values;
    }
    for (int rank = 0; rank < each && rank < alternatives.size(); rank++) {
      tokens[place * each + rank] = alternatives.token(rank);
      values[place * each + rank] = alternatives.logprob(rank);
    }
  }

  /** What the token that was added means for the answer: an ending, or null. */
  @Nullable Ending after(int token, int lengthMax) {
    if (contains(request.ends(), token)) {
      return Ending.STOP;
    }
    if (contains(request.stops(), token)) {
      stopToken = token;
      return Ending.STOP;
    }
    if (form != null) {
      form.accept(token);
    }
    return answerLength() >= request.maxTokens() || length() >= lengthMax ? Ending.LENGTH : null;
  }

  private static boolean contains(int[] tokens, int token) {
    for (int each : tokens) {
      if (each == token) {
        return true;
      }
    }
    return false;
  }

  void publish() {
    published = answerLength();
  }

  void end(Ending how, String why) {
    publish();
    failure = why;
    ending = how;
  }
}
