package dev.flotilla.engine.sample;

/**
 * The likeliest tokens of one row of logits, and what the row's logits are to be shifted by to be
 * log-probabilities. Made once, filled for each token that wants it.
 */
public final class Alternatives {
  private final int[] tokens;
  private final float[] logits;
  private int size;
  private double shift;

  /** Room for that many tokens. */
  public Alternatives(int max) {
    tokens = new int[max];
    logits = new float[max];
  }

  /** How many there are. */
  public int size() {
    return size;
  }

  /** A token, the likeliest first; of equals the one with the lower number. */
  public int token(int place) {
    return tokens[place];
  }

  /** The token's log-probability, before any penalty, bias, mask or temperature. */
  public float logprob(int place) {
    return (float) (logits[place] - shift);
  }

  /** The log-probability of a token with this logit. */
  public float logprobOf(float logit) {
    return (float) (logit - shift);
  }

  /** Looks at a row of logits. */
  public void fill(float[] row, int wanted) {
    size = 0;
    float max = Float.NEGATIVE_INFINITY;
    for (float logit : row) {
      max = Math.max(max, logit);
    }
    double sum = 0;
    for (int token = 0; token < row.length; token++) {
      float logit = row[token];
      sum += Math.exp(logit - max);
      if (wanted > 0 && (size < wanted || logit > logits[size - 1])) {
        insert(token, logit, wanted);
      }
    }
    shift = max + Math.log(sum);
  }

  private void insert(int token, float logit, int wanted) {
    int place = size < wanted ? size++ : size - 1;
    while (place > 0 && logits[place - 1] < logit) {
      logits[place] = logits[place - 1];
      tokens[place] = tokens[place - 1];
      place--;
    }
    logits[place] = logit;
    tokens[place] = token;
  }
}
