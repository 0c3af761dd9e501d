package dev.flotilla.engine.sample;

import java.util.Arrays;

/**
 * Chooses a token from a row of logits, in vLLM's order: bias, what is forbidden, penalties,
 * temperature, min_p, top_k, top_p, and a draw.
 *
 * <p>The choice depends on the row, the tokens before it and the seed alone, so an answer with a
 * seed is the same in any batch. Equal logits are told apart by the token's number, the lower one
 * first. A forbidden token is never chosen: the draw is over what is left, and its largest value
 * falls on a token with some probability.
 *
 * <p>Holds room for one row of the vocabulary; for one thread; allocates nothing after it was made.
 */
public final class Sampler {
  /** In place of a token, where every token is forbidden or the logits are no numbers. */
  public static final int NONE = -1;

  /** Steps of the histogram of logits below the largest, and how many one nat has. */
  private static final int BINS = 1024;

  private static final int BINS_PER_NAT = 32;

  private final int vocabulary;
  private final int[] counts;
  private final float[] weights;
  private final double[] binWeights = new double[BINS];
  private final long[] kept;

  /** The weight of all tokens that top_p has to choose from. */
  private double keptFrom;

  /** A sampler of rows of that many logits. */
  public Sampler(int vocabulary) {
    this.vocabulary = vocabulary;
    counts = new int[vocabulary];
    weights = new float[vocabulary];
    kept = new long[vocabulary];
  }

  /** Forbids tokens. */
  public static void forbid(float[] logits, int[] tokens) {
    for (int token : tokens) {
      logits[token] = Float.NEGATIVE_INFINITY;
    }
  }

  /** Forbids what a mask does not allow. */
  public static void mask(float[] logits, long[] allowed) {
    for (int token = 0; token < logits.length; token++) {
      if ((allowed[token >> 6] >>> token & 1) == 0) {
        logits[token] = Float.NEGATIVE_INFINITY;
      }
    }
  }

  /**
   * The next token, or {@link #NONE}; the row is changed.
   *
   * @param tokens the sequence so far, {@code length} tokens, {@code promptLength} of them prompt
   */
  public int next(float[] logits, Sampling how, int[] tokens, int promptLength, int length) {
    how.bias().addTo(logits);
    if (how.penalises()) {
      penalise(logits, how, tokens, promptLength, length);
    }
    int likeliest = likeliest(logits);
    if (likeliest == NONE || how.temperature() == 0) {
      return likeliest;
    }
    double draw = uniform(how.seed(), length - promptLength);
    float max = logits[likeliest];
    double scale = 1 / how.temperature();
    double cut = how.minP() == 0 ? Double.NEGATIVE_INFINITY : Math.log(how.minP());
    boolean all = how.topK() == 0 || how.topK() >= vocabulary;
    if (all && how.topP() == 1) {
      return drawnFromAll(logits, max, scale, cut, draw);
    }
    int count =
        all
            ? keepMass(logits, max, scale, cut, how.topP())
            : keepLargest(logits, max, scale, cut, how.topK());
    return drawnFromKept(count, max, scale, how.topP(), draw);
  }

  private static int likeliest(float[] logits) {
    int best = NONE;
    float most = Float.NEGATIVE_INFINITY;
    for (int token = 0; token < logits.length; token++) {
      if (logits[token] > most) {
        most = logits[token];
        best = token;
      }
    }
    return best;
  }

  /** Repetition counts prompt and answer, the other two the answer alone, as vLLM's do. */
  private void penalise(float[] logits, Sampling how, int[] tokens, int promptLength, int length) {
    for (int i = length - 1; i >= 0; i--) {
      int token = tokens[i];
      if (i >= promptLength) {
        counts[token]++;
      }
    }
    float repetition = (float) how.repetitionPenalty();
    for (int i = length - 1; i >= 0; i--) {
      int token = tokens[i];
      int count = counts[token];
      if (count < 0) {
        continue;
      }
      if (repetition != 1) {
        logits[token] = logits[token] > 0 ? logits[token] / repetition : logits[token] * repetition;
      }
      if (count > 0) {
        logits[token] -= (float) (how.presencePenalty() + count * how.frequencyPenalty());
      }
      counts[token] = -1;
    }
    for (int i = 0; i < length; i++) {
      counts[tokens[i]] = 0;
    }
  }

  private int drawnFromAll(float[] logits, float max, double scale, double cut, double draw) {
    double total = 0;
    for (int token = 0; token < vocabulary; token++) {
      double below = (logits[token] - max) * scale;
      float weight = below >= cut ? (float) Math.exp(below) : 0;
      weights[token] = weight;
      total += weight;
    }
    double rest = draw * total;
    int last = NONE;
    for (int token = 0; token < vocabulary; token++) {
      if (weights[token] > 0) {
        last = token;
        rest -= weights[token];
        if (rest < 0) {
          return token;
        }
      }
    }
    return last;
  }

  /** Keeps the {@code count} largest that are not cut. */
  private int keepLargest(float[] logits, float max, double scale, double cut, int count) {
    int size = 0;
    for (int token = 0; token < vocabulary; token++) {
      double below = (logits[token] - max) * scale;
      if (!(below >= cut) || below == Double.NEGATIVE_INFINITY) {
        continue;
      }
      long key = key(logits[token], token);
      if (size < count) {
        kept[size] = key;
        size++;
        if (size == count) {
          heapify(size);
        }
      } else if (key > kept[0]) {
        kept[0] = key;
        sink(0, size);
      }
    }
    if (size < count) {
      heapify(size);
    }
    keptFrom = 0;
    for (int i = 0; i < size; i++) {
      keptFrom += Math.exp((logit(kept[i]) - max) * scale);
    }
    return size;
  }

  /**
   * Keeps at least the likeliest tokens of that probability: how far down they go a histogram says.
   */
  private int keepMass(float[] logits, float max, double scale, double cut, double mass) {
    Arrays.fill(binWeights, 0);
    double total = 0;
    for (int token = 0; token < vocabulary; token++) {
      double below = (logits[token] - max) * scale;
      if (below >= cut) {
        double weight = Math.exp(below);
        binWeights[bin(below)] += weight;
        total += weight;
      }
    }
    int bin = 0;
    double sum = binWeights[0];
    while (bin < BINS - 1 && sum < mass * total) {
      bin++;
      sum += binWeights[bin];
    }
    int size = 0;
    for (int token = 0; token < vocabulary; token++) {
      double below = (logits[token] - max) * scale;
      if (below >= cut && below > Double.NEGATIVE_INFINITY && bin(below) <= bin) {
        kept[size] = key(logits[token], token);
        size++;
      }
    }
    heapify(size);
    keptFrom = total;
    return size;
  }

  private static int bin(double below) {
    return (int) Math.min(BINS - 1, -below * BINS_PER_NAT);
  }

  /** The kept tokens are a heap: sorted, cut to the mass, and drawn from. */
  private int drawnFromKept(int size, float max, double scale, double mass, double draw) {
    for (int end = size - 1; end > 0; end--) {
      long least = kept[0];
      kept[0] = kept[end];
      kept[end] = least;
      sink(0, end);
    }
    int count = 0;
    double sum = 0;
    while (count < size && (count == 0 || sum < mass * keptFrom)) {
      weights[count] = (float) Math.exp((logit(kept[count]) - max) * scale);
      sum += weights[count];
      count++;
    }
    double rest = draw * sum;
    for (int i = 0; i < count; i++) {
      rest -= weights[i];
      if (rest < 0) {
        return token(kept[i]);
      }
    }
    return token(kept[count - 1]);
  }

  /** Orders by logit, then by the token's number downwards. */
  private static long key(float logit, int token) {
    int bits = Float.floatToIntBits(logit);
    int ordered = bits ^ ((bits >> 31) & Integer.MAX_VALUE);
    return ((long) ordered << 32) | (Integer.MAX_VALUE - token);
  }

  private static float logit(long key) {
    int ordered = (int) (key >> 32);
    return Float.intBitsToFloat(ordered ^ ((ordered >> 31) & Integer.MAX_VALUE));
  }

  private static int token(long key) {
    return Integer.MAX_VALUE - (int) key;
  }

  private void heapify(int size) {
    for (int place = size / 2 - 1; place >= 0; place--) {
      sink(place, size);
    }
  }

  /** The least stands on top. */
  private void sink(int from, int size) {
    int place = from;
    long key = kept[place];
    while (2 * place + 1 < size) {
      int child = 2 * place + 1;
      if (child + 1 < size && kept[child + 1] < kept[child]) {
        child++;
      }
      if (kept[child] >= key) {
        break;
      }
      kept[place] = kept[child];
      place = child;
    }
    kept[place] = key;
  }

  /** A number from 0 to under 1 that follows from the seed and the place alone (SplitMix64). */
  static double uniform(long seed, int place) {
    long z = seed + (place + 1) * 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    z ^= z >>> 31;
    return (z >>> 11) * 0x1.0p-53;
  }
}
