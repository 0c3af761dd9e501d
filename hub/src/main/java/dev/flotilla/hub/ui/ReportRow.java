package dev.flotilla.hub.ui;

import dev.flotilla.hub.store.StoredReport;
import java.time.temporal.ChronoUnit;
import java.util.List;

/**
 * A stored report in the list.
 *
 * @param at ISO 8601 in UTC, which the page turns into local time
 * @param path where its page is
 */
record ReportRow(
    String id,
    String at,
    String kind,
    String title,
    String model,
    List<StoredReport.Figure> figures,
    String path) {

  ReportRow {
    figures = List.copyOf(figures);
  }

  static ReportRow of(DashboardData.Report report) {
    StoredReport head = report.head();
    return new ReportRow(
        "r-" + head.id(),
        head.at().truncatedTo(ChronoUnit.SECONDS).toString(),
        head.kind(),
        head.title(),
        head.model(),
        head.figures(),
        report.path());
  }
}
