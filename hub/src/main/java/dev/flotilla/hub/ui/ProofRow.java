package dev.flotilla.hub.ui;

import dev.flotilla.hub.proof.Curve;
import dev.flotilla.hub.proof.Finding;
import dev.flotilla.hub.proof.ProofRecord;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The last proof of a worker: a row of the proof table, to be read beside the others.
 *
 * @param tone CSS class of the verdict
 * @param held how many things were as they should be, of all
 * @param speeds tokens a second of each request at 1, 2 and 4 at once, and of reading; a dash where
 *     not measured
 * @param amiss what was not as it should be
 */
record ProofRow(
    String id,
    String worker,
    String model,
    String at,
    String verdict,
    String tone,
    String held,
    List<String> speeds,
    List<Amiss> amiss) {
  private static final String NONE = "–";

  ProofRow {
    speeds = List.copyOf(speeds);
    amiss = List.copyOf(amiss);
  }

  /** Something that was not as it should be, both sides. */
  record Amiss(String probe, String expected, String seen) {}

  static ProofRow of(ProofRecord proof) {
    List<Finding> findings = proof.findings();
    Curve curve = proof.curve();
    return new ProofRow(
        DashboardView.rowId("p", proof.worker()),
        DashboardView.clip(proof.worker()),
        DashboardView.clip(proof.model()),
        proof.at().truncatedTo(ChronoUnit.SECONDS).toString(),
        proof.passed() ? (proof.finished() ? "passed" : "passed, measuring") : "refused",
        proof.passed() ? "good" : "bad",
        findings.stream().filter(Finding::held).count() + " of " + findings.size(),
        List.of(level(curve, 1), level(curve, 2), level(curve, 4), reading(curve)),
        findings.stream()
            .filter(finding -> !finding.held())
            .map(finding ->
                new Amiss(
                    DashboardView.clip(finding.stage() + ": " + finding.probe()),
                    DashboardView.clip(finding.expected()),
                    DashboardView.clip(finding.seen())))
            .toList());
  }

  private static String level(@Nullable Curve curve, int concurrency) {
    if (curve == null) {
      return NONE;
    }
    return curve.levels().stream()
        .filter(level -> level.concurrency() == concurrency)
        .findFirst()
        .map(level -> String.format(Locale.ROOT, "%.1f", level.perRequest()))
        .orElse(NONE);
  }

  private static String reading(@Nullable Curve curve) {
    return curve == null || curve.prefills().isEmpty()
        ? NONE
        : String.format(Locale.ROOT, "%.0f", curve.prefills().getLast().perSecond());
  }
}
