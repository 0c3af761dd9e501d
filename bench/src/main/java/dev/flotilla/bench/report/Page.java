package dev.flotilla.bench.report;

import dev.flotilla.bench.measure.Finding;
import java.util.List;
import java.util.Optional;

/**
 * What a report says, from top to bottom; {@link HtmlPage} makes a file of it.
 *
 * @param title what was measured
 * @param subtitle where and when
 */
public record Page(String title, String subtitle, List<Part> parts) {

  public Page {
    parts = List.copyOf(parts);
  }

  /** The page's first plot, which stands for it where there is room for one. */
  public Optional<Plot> plot() {
    return parts.stream()
        .filter(Part.Drawing.class::isInstance)
        .map(part -> ((Part.Drawing) part).plot())
        .findFirst();
  }

  /** A piece of the page. */
  public sealed interface Part {

    /** A heading. */
    record Heading(String text) implements Part {}

    /** A paragraph. */
    record Words(String text) implements Part {}

    /** What a reader must know. */
    record Findings(List<Finding> findings) implements Part {
      public Findings {
        findings = List.copyOf(findings);
      }
    }

    /** Figures. */
    record Table(TextTable table) implements Part {}

    /** A plot, and below it the same as figures. */
    record Drawing(Plot plot, TextTable data) implements Part {}
  }
}
