package dev.flotilla.hub.proof;

import java.time.Duration;

/**
 * What proofs may take, and how long they hold. How long speed is measured is in the configuration
 * ({@code limits.proof}).
 *
 * @param request one request of a proof, to the end of its reply (default 60 s)
 * @param whole one proof, from its first request (default 8 min)
 * @param shapes all probes of a worker's shape together (default 4 min)
 * @param brokenMax probes of a wrong shape after which the rest is not asked (default 5)
 * @param firstTokens tokens of the one answer by which the speed of a model's first worker is
 *     checked (default 32)
 * @param atOnce proofs that go on at the same time, each on a machine of its own (default 4)
 * @param reuse how long a proof stands for equal workers (default 24 h)
 * @param measureWait how long the measuring of a worker that serves waits between two tries to find
 *     it without work (default 2 s)
 * @param measureTries how often that is tried (default 900)
 * @param slowWindow how long live answers are too slow before their worker is proved again (default
 *     20 s)
 * @param slowSamples answers that say so, at least (default 5)
 * @param faultWindow time in which live replies of a wrong shape are counted (default 60 s)
 * @param faultsMax of these, how many make their worker be proved again (default 3)
 */
public record ProofLimits(
    Duration request,
    Duration whole,
    Duration shapes,
    int brokenMax,
    int firstTokens,
    int atOnce,
    Duration reuse,
    Duration measureWait,
    int measureTries,
    Duration slowWindow,
    int slowSamples,
    Duration faultWindow,
    int faultsMax) {

  public static final ProofLimits DEFAULTS =
      new ProofLimits(
          Duration.ofSeconds(60),
          Duration.ofMinutes(8),
          Duration.ofMinutes(4),
          5,
          32,
          4,
          Duration.ofHours(24),
          Duration.ofSeconds(2),
          900,
          Duration.ofSeconds(20),
          5,
          Duration.ofSeconds(60),
          3);

  /** The same with other times for one request of a proof, and for a proof. */
  public ProofLimits within(Duration oneRequest, Duration oneProof) {
    return new ProofLimits(
        oneRequest,
        oneProof,
        shapes,
        brokenMax,
        firstTokens,
        atOnce,
        reuse,
        measureWait,
        measureTries,
        slowWindow,
        slowSamples,
        faultWindow,
        faultsMax);
  }

  /** The same with other words on when live answers have been too slow for long enough. */
  public ProofLimits slowAfter(Duration window, int samples) {
    return new ProofLimits(
        request,
        whole,
        shapes,
        brokenMax,
        firstTokens,
        atOnce,
        reuse,
        measureWait,
        measureTries,
        window,
        samples,
        faultWindow,
        faultsMax);
  }
}
