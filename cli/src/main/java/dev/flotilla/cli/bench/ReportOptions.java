package dev.flotilla.cli.bench;

import dev.flotilla.bench.report.HtmlPage;
import dev.flotilla.bench.report.Page;
import dev.flotilla.bench.report.PlotPicture;
import dev.flotilla.bench.report.ResultFiles;
import dev.flotilla.cli.client.HubClient;
import dev.flotilla.cli.client.HubOptions;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.NamedFile;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Text;
import dev.flotilla.cli.output.WrongUsage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Where what was measured goes, beside the terminal: files, and a hub that keeps reports. */
final class ReportOptions {
  /** Figures of a report that a hub's lists show. */
  private static final int FIGURES_MAX = 12;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Writes what was measured as JSON, every request with it.")
  private @Nullable Path json;

  @Option(
      names = "--html",
      paramLabel = "FILE",
      description = "Writes a report as one page that needs nothing else.")
  private @Nullable Path html;

  @Option(
      names = "--png",
      paramLabel = "FILE",
      description = "Writes the report's plot as a picture.")
  private @Nullable Path png;

  @Option(
      names = "--report-to",
      paramLabel = "HUB",
      description = "Stores the report in this hub, whose dashboard lists it.")
  private @Nullable String reportTo;

  @Option(
      names = "--report-key",
      paramLabel = "KEY",
      description =
          "An administrator's key of that hub. Better in FLOTILLA_REPORT_KEY (else FLOTILLA_KEY):"
              + " arguments are visible to other users of the machine.")
  private @Nullable String reportKey;

  @Option(
      names = "--report-ca",
      paramLabel = "FILE",
      description = "Certificate (PEM) of the authority that that hub's is checked by.")
  private @Nullable Path reportCa;

  /**
   * What was measured, in all forms that it is kept in.
   *
   * @param kind what made it, a word
   * @param title what was measured, one line
   * @param figures that lists show, by name
   * @param whole with every request
   * @param summary without
   */
  record Report(
      String kind,
      String title,
      String model,
      Map<String, String> figures,
      ObjectNode whole,
      ObjectNode summary,
      Page page) {
    Report {
      figures = new LinkedHashMap<>(figures);
    }
  }

  ReportOptions() {}

  /** Says what can't be meant, before anything is measured. */
  void check(Shell shell) {
    check("--json", json);
    check("--html", html);
    check("--png", png);
    if (reportTo != null) {
      hub(reportTo, shell);
    } else if (reportKey != null || reportCa != null) {
      throw new WrongUsage(
          (reportKey != null ? "--report-key" : "--report-ca")
              + " is for the hub that --report-to names");
    }
  }

  private static void check(String option, @Nullable Path file) {
    if (file != null) {
      NamedFile.writable(option, file);
    }
  }

  /** Whether anything of it is wanted. */
  boolean wanted() {
    return json != null || html != null || png != null || reportTo != null;
  }

  /**
   * Keeps it in each form that is wanted. What can't be kept in one form is kept in the others all
   * the same.
   *
   * @throws Failure with one line that names what was not kept
   */
  void keep(Report report, Shell shell) {
    List<String> lost = new ArrayList<>();
    ResultFiles files = new ResultFiles();
    if (json != null) {
      Path file = json;
      tried(() -> files.write(file, report.whole()), "the result is in " + file, lost, shell);
    }
    if (html != null) {
      Path file = html;
      tried(
          () -> files.write(file, HtmlPage.of(report.page())),
          "the report is in " + file,
          lost,
          shell);
    }
    if (png != null) {
      Path file = png;
      tried(
          () ->
              files.write(
                  file,
                  PlotPicture.png(
                      report
                          .page()
                          .plot()
                          .orElseThrow(
                              () -> new IOException(file + ": there is nothing to draw")))),
          "the plot is in " + file,
          lost,
          shell);
    }
    if (reportTo != null) {
      String address = reportTo;
      tried(() -> send(report, hub(address, shell), shell), "", lost, shell);
    }
    if (!lost.isEmpty()) {
      shell.out().flush();
      throw new Failure(String.join("; ", lost));
    }
  }

  /** One way to keep a report. */
  @FunctionalInterface
  private interface Keeping {
    void keep() throws IOException;
  }

  private static void tried(Keeping keeping, String done, List<String> lost, Shell shell) {
    try {
      keeping.keep();
      if (!done.isEmpty()) {
        shell.err().println(done);
      }
    } catch (IOException | Failure e) {
      lost.add(String.valueOf(e.getMessage()));
    }
  }

  private HubClient hub(String address, Shell shell) {
    Optional<String> key =
        Optional.ofNullable(reportKey)
            .or(() -> shell.variable("FLOTILLA_REPORT_KEY"))
            .or(() -> shell.variable("FLOTILLA_KEY"))
            .map(String::strip);
    if (key.isPresent() && !key.get().chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      throw new WrongUsage(
          (reportKey != null ? "--report-key" : "FLOTILLA_REPORT_KEY")
              + ": that is no key; one looks like fl-…");
    }
    Optional<Path> ca =
        Optional.ofNullable(reportCa).map(file -> NamedFile.readable("--report-ca", file));
    return new HubClient(HubOptions.httpAddress(address, "--report-to"), key, ca, "--report-to");
  }

  private static void send(Report report, HubClient hub, Shell shell) {
    ObjectNode body =
        JsonMapper.shared()
            .createObjectNode()
            .put("kind", report.kind())
            .put("title", report.title())
            .put("model", report.model());
    ArrayNode figures = body.putArray("figures");
    report.figures().entrySet().stream()
        .limit(FIGURES_MAX)
        .forEach(figure ->
            figures.addObject().put("name", figure.getKey()).put("value", figure.getValue()));
    body.set("summary", report.summary());
    body.put("html", HtmlPage.of(report.page()));
    JsonNode stored = hub.post("/api/reports", body);
    shell
        .err()
        .println(
            "the report is at " + Text.printable(hub.address() + stored.path("path").asString("")));
  }
}
