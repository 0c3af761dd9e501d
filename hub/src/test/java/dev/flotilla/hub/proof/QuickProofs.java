package dev.flotilla.hub.proof;

/** Proofs that end at the first difference: a worker that fails is set aside after each. */
public final class QuickProofs {
  public static final ProofLimits LIMITS = limits(ProofLimits.DEFAULTS);

  private QuickProofs() {}

  private static ProofLimits limits(ProofLimits usual) {
    return new ProofLimits(
        usual.request(),
        usual.whole(),
        usual.shapes(),
        1,
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
