package dev.flotilla.cli.command;

import dev.flotilla.cli.output.Format;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Style;
import dev.flotilla.cli.output.Table;
import dev.flotilla.cli.output.Table.Cell;
import dev.flotilla.cli.output.Text;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/** What {@code get} can list: where it is asked for, and the columns that people see. */
final class Listing {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT)
          .withZone(ZoneId.systemDefault());

  static final Listing WORKERS =
      new Listing(
          "workers",
          "/api/workers",
          "no workers: nothing is configured, or no agent has joined ('flotilla get nodes')",
          column("Worker", "name"),
          column("Node", "node"),
          column("GPU", node -> orDash(text(node, "gpu"))),
          column("Host", "host"),
          column("Engine", Listing::engine),
          column("Ctx", node -> count(node, "contextTokens")),
          new Column("State", false, node -> state(text(node, "state"))),
          column("In flight", node -> node.path("inFlight").asInt() + "/" + count(node, "slots")),
          column("tok/s", node -> speed(node.path("decodeTokensPerSecond").asDouble())),
          wide("Model", "model"),
          wide("Pid", node -> count(node, "pid")),
          wide("Launch", node -> count(node, "launches")),
          wide("Memory", node -> memory(node, "residentBytes")),
          column("Started with", Listing::startedWith));

  static final Listing NODES =
      new Listing(
          "nodes",
          "/api/nodes",
          "no nodes: add one with 'flotilla agent --hub URL --token T' on that machine",
          column("Node", "name"),
          new Column(
              "State",
              false,
              node ->
                  node.path("connected").asBoolean()
                      ? node.path("drained").asBoolean()
                          ? new Cell("drained", Style.CARE)
                          : new Cell("connected", Style.GOOD)
                      : new Cell("gone", Style.BAD)),
          column("Host", node -> text(node.path("facts"), "host")),
          column("OS", node -> text(node.path("facts"), "os")),
          column("Arch", node -> text(node.path("facts"), "arch")),
          column("Cores", node -> count(node.path("facts"), "physicalCores")),
          column("Memory free", node -> memory(node.path("facts"), "memoryAvailableBytes")),
          column("of", node -> memory(node.path("facts"), "memoryTotalBytes")),
          column("Workers", node -> node.path("workers").asString("0")),
          wide("Lanes idle", node -> node.path("idleLanes").asString("0")),
          wide("open", node -> node.path("openLanes").asString("0")),
          wide("Agent", "agentVersion"),
          column("GPU", Listing::accelerators));

  static final Listing MODELS =
      new Listing(
          "models",
          "/api/models",
          "no models: give the hub a configuration with 'flotilla apply fleet.yaml'",
          column("Model", "name"),
          column("Ctx", node -> count(node, "contextTokens")),
          column("Reasoning", "reasoning"),
          column("Tools", node -> node.path("tools").asBoolean() ? "yes" : "no"),
          column(
              "Serving",
              node -> node.path("serving").asInt() + "/" + node.path("replicas").asInt()),
          column("Sources", node -> joined(node.path("sources"))),
          column("How it stands", "explanation"));

  static final Listing BACKENDS =
      new Listing(
          "backends",
          "/api/backends",
          "no backends",
          column("Backend", "name"),
          new Column("State", false, node -> state(text(node, "state").replace('_', ' '))),
          column("Knows the model as", "model"),
          column("In flight", node -> node.path("inFlight").asInt() + "/" + count(node, "slots")),
          column("Served", node -> node.path("served").asString("0")),
          column("Failed", node -> node.path("failed").asString("0")),
          column("Key", node -> orDash(text(node, "key"))),
          column("URL", "url"),
          column("Why", node -> orDash(text(node, "stateReason"))));

  static final Listing ROUTES =
      new Listing(
          "routes",
          "/api/routes",
          "no routes: a model without one uses all its workers",
          column("Route", "name"),
          column("Models", node -> joined(node.path("models"))),
          column("Strategy", "strategy"),
          column("To", node -> joined(node.path("to"))));

  static final Listing EVENTS =
      new Listing(
          "events",
          "/api/events",
          "no events",
          column("Id", node -> count(node, "id")),
          column("When", node -> when(text(node, "at"))),
          new Column("Severity", false, node -> severity(text(node, "severity"))),
          column("Kind", "kind"),
          column("Subject", "subject"),
          column("Message", "message"));

  private static final Column[] OF_REQUESTS = {
    column("When", node -> when(text(node, "at"))),
    column("Model", "model"),
    column("Served by", node -> orDash(text(node, "target"))),
    new Column("Outcome", false, node -> outcome(text(node, "outcome"))),
    column("Status", node -> count(node, "status")),
    column("Tries", node -> count(node, "attempts")),
    column("Tokens in", node -> known(node, "promptTokens")),
    column("out", node -> known(node, "completionTokens")),
    column("First byte", node -> millis(node.path("firstByteMicros").asLong())),
    column("Whole", node -> millis(node.path("totalMicros").asLong())),
    column("Key", node -> orDash(text(node, "key"))),
    wide("Waited", node -> millis(node.path("queueMicros").asLong())),
    wide("Path", "path"),
    wide("Request", "requestId")
  };

  static final Listing REQUESTS =
      new Listing("requests", "/api/requests", "no requests yet", OF_REQUESTS);

  static final Listing USAGE =
      new Listing(
          "usage",
          "/api/usage/log",
          "no requests in that time: --since looks further back",
          OF_REQUESTS);

  static final Listing REPORTS =
      new Listing(
          "reports",
          "/api/reports",
          "no reports: 'flotilla bench ... --report-to URL' stores one",
          column("Report", "id"),
          column("When", node -> when(text(node, "at"))),
          column("Made by", "kind"),
          column("Model", "model"),
          column("Title", "title"),
          column("Figures", node -> figures(node.path("figures"))),
          wide("Size", node -> memory(node, "bytes")),
          wide("Sent by", "by"),
          column("Page", "path"));

  static final Listing RELEASES =
      new Listing(
          "releases",
          "/api/releases",
          "no releases: 'flotilla update offer FILE' brings agents to another version",
          column("Release", "name"),
          column("Offered", node -> node.path("offered").asBoolean() ? "yes" : "no"),
          column("Runs on", node -> orDash(joined(node.path("runningOn")))),
          column("Older are", node -> orDash(joined(node.path("olderAre")))),
          column("When", node -> when(text(node, "at"))),
          wide("Size", node -> memory(node, "bytes")),
          wide("Attempt", node -> count(node, "attempt")),
          wide("By", "by"));

  static final Listing KEYS =
      new Listing(
          "keys",
          "/api/keys",
          "no keys: the hub asks nobody for one (make one with 'flotilla keys create NAME')",
          column("Key", "name"),
          column("May", "role"),
          column("Made", node -> when(text(node, "createdAt"))));

  static final Listing TOKENS =
      new Listing(
          "tokens",
          "/api/tokens",
          "no enrolment tokens: make one with 'flotilla tokens create'",
          column("Token", "id"),
          column("Uses left", node -> node.path("usesLeft").asString("any")),
          column("Until", node -> orDash(when(text(node, "expiresAt")))),
          column("Note", node -> orDash(text(node, "note"))),
          column("Made", node -> when(text(node, "createdAt"))));

  /** All of them, in the order of the help. */
  static final List<Listing> ALL =
      List.of(
          WORKERS, NODES, MODELS, BACKENDS, ROUTES, EVENTS, REQUESTS, USAGE, REPORTS, RELEASES,
          KEYS, TOKENS);

  private final String word;
  private final String path;
  private final String none;
  private final List<Column> columns;

  private Listing(String word, String path, String none, Column... columns) {
    this.word = word;
    this.path = path;
    this.none = none;
    this.columns = List.of(columns);
  }

  /**
   * One column.
   *
   * @param wide whether it is shown with {@code -o wide} only
   */
  record Column(String title, boolean wide, Function<JsonNode, Cell> value) {}

  /** The word on the command line. */
  public String word() {
    return word;
  }

  /** What one of them is called. */
  public String singular() {
    return word.endsWith("s") ? word.substring(0, word.length() - 1) : word;
  }

  String path() {
    return path;
  }

  /** Prints what the hub answered. */
  void print(JsonNode list, Format format, Shell shell) {
    if (format.forPrograms()) {
      format.printDocument(list, shell);
      return;
    }
    if (list.isEmpty()) {
      shell.err().println(none);
      return;
    }
    List<Column> shown = columns(format == Format.WIDE);
    Table table = new Table(shown.stream().map(Column::title).toList());
    for (JsonNode item : list) {
      table.add(shown.stream().map(column -> column.value().apply(item)).toList());
    }
    boolean cut = table.print(shell, format == Format.WIDE ? Integer.MAX_VALUE : shell.width());
    shell.out().flush();
    if (cut && shell.errIsTerminal()) {
      shell.err().println("(cut to the width of the terminal; whole with -o wide)");
    }
  }

  private List<Column> columns(boolean wide) {
    List<Column> shown = new ArrayList<>();
    for (Column column : columns) {
      if (wide || !column.wide()) {
        shown.add(column);
      }
    }
    return shown;
  }

  /** The column's value that names the thing. */
  static String nameOf(JsonNode node) {
    return node.has("name") ? text(node, "name") : text(node, "id");
  }

  private static Column column(String title, String field) {
    return column(title, node -> text(node, field));
  }

  private static Column column(String title, Function<JsonNode, String> value) {
    return new Column(title, false, node -> Cell.of(value.apply(node)));
  }

  private static Column wide(String title, String field) {
    return wide(title, node -> text(node, field));
  }

  private static Column wide(String title, Function<JsonNode, String> value) {
    return new Column(title, true, node -> Cell.of(value.apply(node)));
  }

  private static String text(JsonNode node, String field) {
    return node.path(field).asString("");
  }

  private static String orDash(String text) {
    return text.isEmpty() ? "-" : text;
  }

  private static String count(JsonNode node, String field) {
    long value = node.path(field).asLong(0);
    return value == 0 ? "-" : Long.toString(value);
  }

  private static String memory(JsonNode node, String field) {
    long value = node.path(field).asLong(0);
    return value == 0 ? "-" : Text.bytes(value);
  }

  private static String speed(double tokensPerSecond) {
    return tokensPerSecond <= 0 ? "-" : String.format(Locale.ROOT, "%.1f", tokensPerSecond);
  }

  private static String joined(JsonNode list) {
    return String.join(", ", list.valueStream().map(item -> item.asString("")).toList());
  }

  private static String figures(JsonNode list) {
    return orDash(
        String.join(
            ", ",
            list.valueStream()
                .map(figure -> text(figure, "name") + " " + text(figure, "value"))
                .toList()));
  }

  private static String engine(JsonNode node) {
    String build = text(node, "engineBuild");
    return text(node, "engine") + (build.isEmpty() ? "" : " " + build);
  }

  private static String accelerators(JsonNode node) {
    List<String> names =
        node.path("facts")
            .path("accelerators")
            .valueStream()
            .map(accelerator -> text(accelerator, "name"))
            .toList();
    return names.isEmpty() ? "-" : String.join(", ", names);
  }

  private static String startedWith(JsonNode node) {
    List<String> line =
        node.path("startedWith").valueStream().map(item -> item.asString("")).toList();
    String reason = text(node, "stateReason");
    if (line.isEmpty()) {
      return reason.isEmpty() ? "not started yet" : reason;
    }
    return Text.commandLine(line);
  }

  private static Cell state(String state) {
    Style style =
        switch (state) {
          case "SERVING", "REACHABLE" -> Style.GOOD;
          case "STARTING", "PROVING", "DRAINING", "SUSPECT" -> Style.CARE;
          case "REFUSED", "LOST", "UNREACHABLE", "WITHOUT KEY" -> Style.BAD;
          default -> Style.PLAIN;
        };
    return new Cell(state.toLowerCase(Locale.ROOT), style);
  }

  private static Cell outcome(String outcome) {
    Style style =
        switch (outcome) {
          case "ok" -> Style.GOOD;
          case "failed", "cut" -> Style.BAD;
          default -> Style.CARE;
        };
    return new Cell(outcome, style);
  }

  private static String known(JsonNode node, String field) {
    long value = node.path(field).asLong(-1);
    return value < 0 ? "-" : Long.toString(value);
  }

  private static String millis(long micros) {
    return micros < 0 ? "-" : String.format(Locale.ROOT, "%.1f ms", micros / 1000.0);
  }

  private static Cell severity(String severity) {
    Style style =
        switch (severity) {
          case "ERROR" -> Style.BAD;
          case "WARNING" -> Style.CARE;
          default -> Style.PLAIN;
        };
    return new Cell(severity.toLowerCase(Locale.ROOT), style);
  }

  private static String when(String instant) {
    return instant.isEmpty() ? "" : TIME.format(Instant.parse(instant));
  }
}
