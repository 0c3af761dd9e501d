package dev.flotilla.bench.report;

import dev.flotilla.bench.measure.Finding;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** What was found in runs that were repeated. */
final class RunFindings {
  private RunFindings() {}

  /** Each kind of thing once, in the words of the first run that had it. */
  static List<Finding> once(String where, List<Finding> all) {
    Set<Finding.Kind> told = EnumSet.noneOf(Finding.Kind.class);
    List<Finding> findings = new ArrayList<>();
    for (Finding finding : all) {
      if (told.add(finding.kind())) {
        findings.add(finding.at(where));
      }
    }
    return findings;
  }
}
