package dev.flotilla.hub.proof;

import java.time.Duration;

/** Proofs that end at the first difference: a worker that fails is set aside after each. */
public final class QuickProofs {
  public static final ProofLimits LIMITS =
      limits(ProofLimits.DEFAULTS.request(), ProofLimits.DEFAULTS.shapes(), 1);

  private QuickProofs() {}

  /** Proofs in which a worker has so long for one answer, and for all probes of its shape. */
  static ProofLimits within(Duration request, Duration shapes) {
    return limits(request, shapes, ProofLimits.DEFAULTS.brokenMax());
  }

  private static ProofLimits limits(Duration request, Duration shapes, int brokenMax) {
    ProofLimits usual = ProofLimits.DEFAULTS;
    return new ProofLimits(
        request,
        usual.whole(),
        shapes,
        brokenMax,
        usual.firstTokens(),
        usual.atOnce(),
        usual.reuse(),
        usual.measureWait(),
        usual.measureTries(),
        usual.slowWindow(),
        usual.slowSamples(),
        usual.faultWindow(),
        usual.faultsMax());
  }
}
