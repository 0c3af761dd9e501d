package dev.flotilla.hub.ui;

import dev.flotilla.hub.fleet.NodeView;
import dev.flotilla.hub.fleet.WorkerView;
import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.hub.routing.TargetLoad;
import dev.flotilla.hub.store.Event;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Everything that the page shows, as words: what the templates print and nothing else. Holds no
 * secret and is made anew for each rendering. Texts are not escaped here but where they are
 * printed.
 */
record DashboardView(
    Summary summary,
    List<NoticeLine> notices,
    List<WorkerRow> workers,
    List<BackendRow> backends,
    List<ModelRow> models,
    List<NodeRow> nodes,
    List<ProgressRow> progress,
    List<ProofRow> proofs,
    List<ReportRow> reports,
    List<EventRow> events) {

  /** What a page holds of the fleet before a demanded key was given. */
  static final DashboardView EMPTY =
      new DashboardView(
          new Summary(0, 0, 0, 0, 0, 0),
          List.of(),
          List.of(),
          List.of(),
          List.of(),
          List.of(),
          List.of(),
          List.of(),
          List.of(),
          List.of());

  /** So many events are on the page; all that are kept are in {@code flotilla get events}. */
  static final int EVENTS_SHOWN = 40;

  /** So many workers' proofs are on the page; all are in {@code GET /api/proofs}. */
  static final int PROOFS_SHOWN = 64;

  /** So many reports are on the page; all that are kept are in {@code flotilla get reports}. */
  static final int REPORTS_SHOWN = 50;

  /** A longer text is cut on the page: a hostile one must not make the page heavy. */
  static final int TEXT_CHARACTERS_MAX = 2_000;

  static DashboardView of(DashboardData data, CurlLine curl) {
    Map<String, TargetLoad> loads =
        data.loads().stream()
            .collect(Collectors.toMap(TargetLoad::target, Function.identity(), (a, b) -> a));
    FleetSnapshot fleet = data.fleet();
    List<WorkerView> workers = data.workers();
    return new DashboardView(
        Summary.of(workers, data.nodes(), data.loads(), fleet.revision()),
        data.banner().stream().map(NoticeLine::of).toList(),
        workers.stream().map(worker -> WorkerRow.of(worker, loads.get(worker.name()))).toList(),
        backends(fleet, loads),
        fleet.names().values().stream().map(name -> ModelRow.of(name, curl)).toList(),
        data.nodes().stream().map(NodeRow::of).toList(),
        data.progress().stream().map(ProgressRow::of).toList(),
        data.proofs().stream().limit(PROOFS_SHOWN).map(ProofRow::of).toList(),
        data.reports(REPORTS_SHOWN).stream().map(ReportRow::of).toList(),
        data.events(EVENTS_SHOWN).stream().limit(EVENTS_SHOWN).map(EventRow::of).toList());
  }

  private static List<BackendRow> backends(FleetSnapshot fleet, Map<String, TargetLoad> loads) {
    Map<String, Target> byName = new HashMap<>();
    for (FleetSnapshot.Name name : fleet.names().values()) {
      for (Target target : name.targets()) {
        if (target.kind() == Target.Kind.BACKEND) {
          byName.putIfAbsent(target.name(), target);
        }
      }
    }
    return byName.values().stream()
        .sorted(Comparator.comparing(Target::name))
        .map(target -> BackendRow.of(target, loads.get(target.name())))
        .toList();
  }

  /** The line under the title. */
  record Summary(
      int nodesConnected, int nodes, int serving, int workers, int inFlight, long revision) {

    static Summary of(
        List<WorkerView> workers, List<NodeView> nodes, List<TargetLoad> loads, long revision) {
      return new Summary(
          (int) nodes.stream().filter(NodeView::connected).count(),
          nodes.size(),
          (int) workers.stream().filter(w -> w.state() == WorkerView.State.SERVING).count(),
          workers.size(),
          loads.stream().mapToInt(TargetLoad::inFlight).sum(),
          revision);
    }
  }

  /** One line of the banner; {@code severity} is a CSS class. */
  record NoticeLine(String severity, String word, String message) {
    static NoticeLine of(DashboardData.Notice notice) {
      String word =
          switch (notice.severity()) {
            case INFO -> "Note:";
            case WARNING -> "Warning:";
            case ERROR -> "Trouble:";
          };
      return new NoticeLine(severityClass(notice.severity()), word, clip(notice.message()));
    }
  }

  /**
   * A public name.
   *
   * @param availability in words, how many answer and how many come
   * @param curl one line that can be pasted
   */
  record ModelRow(
      String id,
      String name,
      boolean available,
      boolean chats,
      String context,
      String availability,
      String explanation,
      String curl) {

    static ModelRow of(FleetSnapshot.Name name, CurlLine curl) {
      int admitting = (int) name.targets().stream().filter(Target::admitting).count();
      boolean chats =
          name.targets().stream().anyMatch(t -> t.capability() != Target.Capability.EMBEDDINGS)
              || name.targets().isEmpty();
      String coming = name.coming() == 0 ? "" : ", " + name.coming() + " coming";
      return new ModelRow(
          rowId("m", name.name()),
          clip(name.name()),
          admitting > 0,
          chats,
          name.contextTokens() == 0 ? "" : count(name.contextTokens()) + " tokens",
          (admitting == 0 ? "nobody answers" : admitting + " answering") + coming,
          admitting == 0 ? clip(name.explanation()) : "",
          chats ? curl.chat(name.name()) : curl.embeddings(name.name()));
    }
  }

  /** A machine. */
  record NodeRow(
      String id,
      String name,
      String state,
      String tone,
      String host,
      String system,
      String processor,
      String accelerators,
      long memoryUsedBytes,
      long memoryTotalBytes,
      String memory,
      String lanes,
      int workers,
      String lastHeard) {

    static NodeRow of(NodeView node) {
      String state = !node.connected() ? "away" : node.drained() ? "drained" : "connected";
      String tone = !node.connected() ? "bad" : node.drained() ? "busy" : "good";
      String lastHeard =
          node.lastHeard() == null || node.connected()
              ? ""
              : node.lastHeard().truncatedTo(ChronoUnit.SECONDS).toString();
      String lanes = node.openLanes() + " open, " + node.idleLanes() + " idle";
      NodeFacts facts = node.facts();
      if (facts == null) {
        return new NodeRow(
            rowId("n", node.name()),
            clip(node.name()),
            state,
            tone,
            "",
            "",
            "",
            "",
            0,
            0,
            "",
            lanes,
            node.workers(),
            lastHeard);
      }
      long used = Math.max(0, facts.memoryTotalBytes() - facts.memoryAvailableBytes());
      return new NodeRow(
          rowId("n", node.name()),
          clip(node.name()),
          state,
          tone,
          clip(facts.host()),
          clip(
              (facts.os() + " " + facts.osVersion()).strip()
                  + (facts.wsl() ? " (WSL)" : "")
                  + ", "
                  + facts.arch()),
          clip(facts.cpu()) + ", " + facts.physicalCores() + " cores",
          facts.accelerators().stream().map(NodeRow::accelerator).collect(Collectors.joining(", ")),
          used,
          facts.memoryTotalBytes(),
          Bytes.text(facts.memoryAvailableBytes())
              + " free of "
              + Bytes.text(facts.memoryTotalBytes()),
          lanes,
          node.workers(),
          lastHeard);
    }

    private static String accelerator(NodeFacts.Accelerator accelerator) {
      return clip(accelerator.name())
          + (accelerator.memoryTotalBytes() == 0
              ? ""
              : " " + Bytes.text(accelerator.memoryTotalBytes()));
    }
  }

  /**
   * A download or an installation.
   *
   * @param totalBytes 0 where unknown
   */
  record ProgressRow(
      String id,
      String node,
      String subject,
      String step,
      long doneBytes,
      long totalBytes,
      String text) {
    static ProgressRow of(DashboardData.Progress progress) {
      long total = Math.max(0, progress.totalBytes());
      String text =
          total == 0
              ? Bytes.text(progress.doneBytes())
              : Bytes.text(progress.doneBytes())
                  + " of "
                  + Bytes.text(total)
                  + ", "
                  + Math.min(100, 100 * progress.doneBytes() / total)
                  + "%";
      return new ProgressRow(
          rowId("p", progress.node() + ' ' + progress.subject()),
          clip(progress.node()),
          clip(progress.subject()),
          clip(progress.step()),
          progress.doneBytes(),
          total,
          text);
    }
  }

  /** An event; {@code at} is ISO 8601 in UTC, which the page turns into local time. */
  record EventRow(
      String id,
      String at,
      String clock,
      String severity,
      String kind,
      String subject,
      String message) {
    static EventRow of(Event event) {
      String at = event.at().truncatedTo(ChronoUnit.SECONDS).toString();
      return new EventRow(
          "e-" + event.id(),
          at,
          at.substring(11, 19),
          severityClass(event.severity()),
          clip(event.kind()),
          clip(event.subject()),
          clip(event.message()));
    }
  }

  private static String severityClass(Severity severity) {
    return severity.name().toLowerCase(Locale.ROOT);
  }

  static String tokensPerSecond(@Nullable TargetLoad load) {
    return load == null || load.decodeTokensPerSecond() <= 0
        ? ""
        : String.format(Locale.ROOT, "%.1f", load.decodeTokensPerSecond());
  }

  static String count(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  static String clip(String text) {
    return text.length() <= TEXT_CHARACTERS_MAX
        ? text
        : text.substring(0, TEXT_CHARACTERS_MAX) + "…";
  }

  /** Letters, digits and a hash: the name may hold anything and be of any length. */
  static String rowId(String kind, String name) {
    String readable = clip(name).replaceAll("[^A-Za-z0-9-]", "_");
    return kind
        + '-'
        + readable.substring(0, Math.min(readable.length(), 60))
        + '-'
        + Integer.toHexString(name.hashCode());
  }
}
