package dev.flotilla.cli.bench;

import dev.flotilla.bench.arms.ArmOutcome;
import dev.flotilla.bench.arms.ArmsRun;
import dev.flotilla.bench.arms.ServerCounters;
import dev.flotilla.bench.measure.ArmRuns;
import dev.flotilla.bench.measure.Finding;
import dev.flotilla.bench.measure.Result;
import dev.flotilla.bench.measure.Spread;
import dev.flotilla.bench.measure.Summary;
import dev.flotilla.bench.measure.WorkerShare;
import dev.flotilla.bench.report.ArmsPage;
import dev.flotilla.bench.report.ArmsTable;
import dev.flotilla.bench.report.Page;
import dev.flotilla.bench.report.ResultJson;
import dev.flotilla.bench.report.TextTable;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Text;
import dev.flotilla.wire.text.Counted;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** What the arms gave, in all forms that it is shown and kept in. */
final class ArmsReport {
  private final ArmsRun.Outcome outcome;
  private final List<String> notes;
  private final List<ArmRuns> arms;

  /**
   * @param notes how the arms were started
   */
  ArmsReport(ArmsRun.Outcome outcome, List<String> notes) {
    this.outcome = outcome;
    this.notes = notes;
    this.arms = outcome.arms().stream().map(ArmsReport::runs).toList();
  }

  private static ArmRuns runs(ArmOutcome arm) {
    return new ArmRuns(arm.arm().name(), arm.arm().words(), arm.runs(), requests(arm));
  }

  /**
   * Requests by target: as each target counted them, else as the hub's reply headers name their
   * target, else all for the only one.
   */
  private static Map<String, Long> requests(ArmOutcome arm) {
    Map<String, Long> served = new TreeMap<>();
    arm.upstream()
        .forEach((target, counted) ->
            counted.requests().ifPresent(requests -> served.put(target, requests)));
    if (!served.isEmpty()) {
      return served;
    }
    for (Result run : arm.runs()) {
      for (WorkerShare share : run.summary().own().workers()) {
        served.merge(share.worker(), (long) share.completed(), Long::sum);
      }
    }
    if (served.isEmpty() && arm.upstream().size() == 1) {
      long completed = arm.runs().stream().mapToLong(run -> run.summary().completed()).sum();
      served.put(arm.upstream().keySet().iterator().next(), completed);
    }
    return served;
  }

  /** Whether no arm has a run that counts. */
  boolean isEmpty() {
    return arms.isEmpty();
  }

  boolean misleads() {
    return !outcome.whole()
        || outcome.arms().stream()
            .anyMatch(arm -> arm.findings().stream().anyMatch(Finding::misleads))
        || arms.stream().flatMap(arm -> arm.findings().stream()).anyMatch(Finding::misleads);
  }

  void print(Shell shell) {
    var load = arms.getFirst().runs().getFirst().run().load();
    shell
        .out()
        .println(
            Text.printable(
                "Arms: %s, %s, %s, %d at once"
                    .formatted(
                        load.model(),
                        load.dataset(),
                        Counted.of(load.prompts(), "request"),
                        load.maxConcurrency())));
    notes.forEach(note -> shell.out().println("  " + Text.printable(note)));
    shell.out().print(ArmsTable.of(arms).plain());
    TextTable upstream = upstream();
    if (!upstream.rows().isEmpty()) {
      shell.out().println();
      shell.out().print(upstream.plain());
    }
    verdicts().forEach(shell.out()::println);
    ExperimentConsole.print(shell, findings());
    shell.out().flush();
  }

  private Map<String, List<Finding>> findings() {
    Map<String, List<Finding>> findings = ofExperiment();
    for (ArmRuns arm : arms) {
      findings
          .computeIfAbsent("arm " + arm.name(), name -> new ArrayList<>())
          .addAll(
              arm.findings().stream()
                  // That requests wait for a slot is what the arms are about.
                  .filter(finding -> finding.kind() != Finding.Kind.BEYOND_SLOTS)
                  .toList());
    }
    return findings;
  }

  /** What the runs do not say themselves. */
  private Map<String, List<Finding>> ofExperiment() {
    Map<String, List<Finding>> findings = new LinkedHashMap<>();
    if (!outcome.whole()) {
      String why = outcome.trouble().orElse("these are the results so far.");
      findings.put("", List.of(partial("It was ended: " + why)));
    }
    for (ArmOutcome arm : outcome.arms()) {
      findings.put("arm " + arm.arm(), new ArrayList<>(arm.findings()));
    }
    return findings;
  }

  private static Finding partial(String words) {
    return new Finding(Finding.Kind.PARTIAL, true, words);
  }

  /** What each target did, counted where it was done. */
  private TextTable upstream() {
    TextTable table =
        new TextTable(
            "arm", "target", "requests", "generated tokens (its own count)", "prompt tokens");
    for (int at = 0; at < arms.size(); at++) {
      ArmRuns arm = arms.get(at);
      Map<String, ServerCounters> counted = outcome.arms().get(at).upstream();
      Map<String, Optional<ServerCounters>> targets = new TreeMap<>();
      arm.served().keySet().forEach(target -> targets.put(target, Optional.empty()));
      counted.forEach((target, each) -> targets.put(target, Optional.of(each)));
      targets.forEach((target, each) ->
          table.row(
              arm.name(),
              target,
              Optional.ofNullable(arm.served().get(target)).map(String::valueOf).orElse("–"),
              each.map(c -> String.valueOf(c.generatedTokens())).orElse("–"),
              each.map(c -> String.valueOf(c.promptTokens())).orElse("–")));
    }
    return table;
  }

  /** What the first arm's others are worth, in a sentence each. */
  private List<String> verdicts() {
    List<String> verdicts = new ArrayList<>();
    Spread first = output(arms.getFirst());
    for (ArmRuns arm : arms.subList(1, arms.size())) {
      Spread other = output(arm);
      if (first.median() <= 0) {
        continue;
      }
      boolean apart = other.min() > first.max() || other.max() < first.min();
      verdicts.add(
          String.format(
              Locale.ROOT,
              "%s (%s) gives %.2f × the throughput of %s%s",
              arm.name(),
              arm.words(),
              other.median() / first.median(),
              arms.getFirst().name(),
              arm.contradicts() || arms.getFirst().contradicts()
                  ? ", of runs that contradict each other"
                  : apart || first.runs() < 2 ? "" : ", within what the runs differ by"));
    }
    return verdicts;
  }

  private static Spread output(ArmRuns arm) {
    return Spread.of(
        arm.runs().stream().map(Result::summary).map(Summary::outputThroughput).toList());
  }

  ReportOptions.Report kept() {
    var load = arms.getFirst().runs().getFirst().run().load();
    Map<String, String> figures = new LinkedHashMap<>();
    for (ArmRuns arm : arms) {
      figures.put(arm.name() + " tok/s", String.format(Locale.ROOT, "%.1f", output(arm).median()));
    }
    Page page = ArmsPage.of(arms);
    List<Page.Part> parts = new ArrayList<>(page.parts());
    parts.add(
        new Page.Part.Findings(ofExperiment().values().stream().flatMap(List::stream).toList()));
    verdicts().forEach(words -> parts.add(new Page.Part.Words(words + ".")));
    parts.add(new Page.Part.Heading("What each target counted itself"));
    parts.add(new Page.Part.Table(upstream()));
    parts.add(new Page.Part.Heading("How the arms were started"));
    notes.forEach(note -> parts.add(new Page.Part.Words(note)));
    return new ReportOptions.Report(
        "arms",
        "Arms of " + load.model() + ", " + load.dataset(),
        load.model(),
        figures,
        json(true),
        json(false),
        new Page(page.title(), page.subtitle(), parts));
  }

  private ObjectNode json(boolean detailed) {
    ObjectNode json = JsonMapper.shared().createObjectNode();
    json.put("partial", !outcome.whole());
    ArrayNode started = json.putArray("started");
    notes.forEach(started::add);
    ArrayNode all = json.putArray("arms");
    for (int at = 0; at < arms.size(); at++) {
      ArmRuns arm = arms.get(at);
      ObjectNode one = all.addObject().put("arm", arm.name()).put("words", arm.words());
      ObjectNode served = one.putObject("served");
      arm.served().forEach(served::put);
      ObjectNode counted = one.putObject("upstream");
      outcome
          .arms()
          .get(at)
          .upstream()
          .forEach((target, each) ->
              counted
                  .putObject(target)
                  .put("server", each.server())
                  .put("prompt_tokens", each.promptTokens())
                  .put("generated_tokens", each.generatedTokens()));
      ArrayNode runs = one.putArray("runs");
      arm.runs().forEach(run -> runs.add(ResultJson.of(run, detailed, ZoneId.systemDefault())));
    }
    return json;
  }
}
