package dev.flotilla.bench.measure;

import java.util.Optional;

/**
 * What a run was asked to do, as its report repeats it.
 *
 * @param url base of the server's API, such as {@code http://127.0.0.1:8484/v1}
 * @param model the name that requests carried
 * @param endpoint {@code openai-chat} or {@code openai}, in the field's words
 * @param dataset {@code random}, {@code chat}, {@code agent}, {@code file} or {@code replay}, with
 *     what shaped it, such as {@code random 256 in 128 out}
 * @param prompts how many requests
 * @param maxConcurrency requests under way at once at most; 0 for no limit
 * @param requestRate requests a second; {@link Double#POSITIVE_INFINITY} for all at once, as a
 *     closed loop has it; of a ramp and of a replay the mean
 * @param burstiness shape of the gaps between arrivals: 1 is Poisson, {@link
 *     Double#POSITIVE_INFINITY} even
 * @param seed what prompts and arrivals were drawn with
 * @param ramp how the rate grew, where it did
 */
public record Load(
    String url,
    String model,
    String endpoint,
    String dataset,
    int prompts,
    int maxConcurrency,
    double requestRate,
    double burstiness,
    long seed,
    Optional<Ramp> ramp) {

  /**
   * A rate that grows from request to request.
   *
   * @param strategy {@code linear} or {@code exponential}
   * @param startRps requests a second at the first request
   * @param endRps and at the last one
   */
  public record Ramp(String strategy, double startRps, double endRps) {}

  /** A load whose rate does not grow. */
  public Load(
      String url,
      String model,
      String endpoint,
      String dataset,
      int prompts,
      int maxConcurrency,
      double requestRate,
      double burstiness,
      long seed) {
    this(
        url,
        model,
        endpoint,
        dataset,
        prompts,
        maxConcurrency,
        requestRate,
        burstiness,
        seed,
        Optional.empty());
  }

  /** This load with a rate that grows so. */
  public Load ramped(Optional<Ramp> how) {
    return new Load(
        url, model, endpoint, dataset, prompts, maxConcurrency, requestRate, burstiness, seed, how);
  }
}
