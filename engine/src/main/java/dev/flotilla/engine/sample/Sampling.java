package dev.flotilla.engine.sample;

/**
 * How the tokens of one answer are chosen. Values outside the ranges given here are refused.
 *
 * @param temperature 0 takes the likeliest token; at most 100
 * @param topK choose among that many likeliest tokens; 0 means all
 * @param topP choose among the likeliest tokens that together have this probability, over 0, at
 *     most 1
 * @param minP choose among tokens at least this fraction as likely as the likeliest, 0 to 1
 * @param repetitionPenalty divides positive logits of tokens in prompt and answer, multiplies
 *     negative ones; over 0, 1 for none
 * @param presencePenalty is taken from the logits of tokens in the answer, -2 to 2
 * @param frequencyPenalty is taken once for each time that the token is in the answer, -2 to 2
 * @param bias is added to logits
 * @param seed decides, with the number of the answer's token, every draw
 */
public record Sampling(
    double temperature,
    int topK,
    double topP,
    double minP,
    double repetitionPenalty,
    double presencePenalty,
    double frequencyPenalty,
    Bias bias,
    long seed) {

  /** The likeliest token, always. */
  public static final Sampling GREEDY = new Sampling(0, 0, 1, 0, 1, 0, 0, Bias.NONE, 0);

  public Sampling {
    within("temperature", temperature, 0, 100);
    within("top_k", topK, 0, Integer.MAX_VALUE);
    within("top_p", topP, Double.MIN_VALUE, 1);
    within("min_p", minP, 0, 1);
    within("repetition_penalty", repetitionPenalty, Double.MIN_VALUE, 100);
    within("presence_penalty", presencePenalty, -2, 2);
    within("frequency_penalty", frequencyPenalty, -2, 2);
  }

  /** Also refuses what is not a number. */
  private static void within(String name, double value, double from, double to) {
    if (!(value >= from && value <= to)) {
      String least = from == Double.MIN_VALUE ? "over 0" : "from " + plain(from);
      throw new OutOfRange(
          name,
          "%s must be %s%s, not %s"
              .formatted(
                  name, least, to == Integer.MAX_VALUE ? "" : " to " + plain(to), plain(value)));
    }
  }

  private static String plain(double value) {
    return value == Math.rint(value) && Math.abs(value) < 1e9
        ? Long.toString((long) value)
        : Double.toString(value);
  }

  boolean penalises() {
    return repetitionPenalty != 1 || presencePenalty != 0 || frequencyPenalty != 0;
  }

  /** A value that is not allowed; the message names it. */
  public static final class OutOfRange extends IllegalArgumentException {
    private final String parameter;

    OutOfRange(String parameter, String message) {
      super(message);
      this.parameter = parameter;
    }

    /** The parameter, as the API writes it. */
    public String parameter() {
      return parameter;
    }
  }
}
