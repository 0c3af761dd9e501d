package dev.flotilla.cli.command;

import dev.flotilla.cli.client.HubClient;
import dev.flotilla.cli.client.HubOptions;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.Format;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Style;
import dev.flotilla.cli.output.Table;
import dev.flotilla.cli.output.Table.Cell;
import dev.flotilla.cli.output.Text;
import dev.flotilla.cli.output.WrongUsage;
import dev.flotilla.wire.text.Counted;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code flotilla describe}: all that is known of one thing, and what happened to it. */
@Command(
    name = "describe",
    description =
        "Shows all that is known of one worker, node, model, backend, route, event, report, release,"
            + " key or token.",
    footer = {
      "%nExamples:",
      "  flotilla describe worker laptop/smollm2-135m-1",
      "  flotilla describe node laptop -o yaml",
    })
public final class Describe implements Callable<Integer> {
  private static final int EVENTS_SHOWN = 10;
  private static final int EVENTS_LOOKED_AT = 1000;
  private static final int STATES_SHOWN = 10;

  private final Shell shell;

  @Mixin private final HubOptions hub = new HubOptions();

  @Parameters(
      index = "0",
      paramLabel = "KIND",
      converter = Get.KindConverter.class,
      description = "worker, node, model, backend, route, event, report, release, key or token.")
  private Listing kind = Listing.WORKERS;

  @Parameters(index = "1", paramLabel = "NAME", description = "Its name, as 'flotilla get' shows.")
  private String name = "";

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      converter = Format.Converter.class,
      description = "table, json or yaml (default: table).")
  private Format format = Format.TABLE;

  public Describe(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    String path = path();
    HubClient client = hub.client(shell);
    JsonNode item = find(client, path);
    if (format.forPrograms()) {
      format.printDocument(item, shell);
      return 0;
    }
    print(item, "");
    printUsage(client);
    if (kind == Listing.WORKERS) {
      printProof(client);
      printHistory(client);
    }
    if (kind != Listing.EVENTS) {
      printEvents(client);
    }
    shell.out().flush();
    return 0;
  }

  /** Where it is looked for. */
  private String path() {
    return kind == Listing.EVENTS
        ? "/api/events?limit=1&after=" + Math.max(0, eventNumber() - 1) + "&oldest=true"
        : kind.path();
  }

  private JsonNode find(HubClient client, String path) {
    JsonNode list = client.get(path);
    for (JsonNode item : list) {
      if (Listing.nameOf(item).equals(name)) {
        return item;
      }
    }
    List<String> names = list.valueStream().map(Listing::nameOf).limit(20).toList();
    throw new Failure(
        "no "
            + kind.singular()
            + " '"
            + name
            + "'"
            + (names.isEmpty() || kind == Listing.EVENTS
                ? ""
                : "; there are: " + String.join(", ", names)));
  }

  private long eventNumber() {
    try {
      return Long.parseLong(name);
    } catch (NumberFormatException e) {
      throw new WrongUsage("an event is named by its number, as 'flotilla get events' shows it", e);
    }
  }

  private void print(JsonNode item, String indent) {
    int width =
        item.propertyStream().mapToInt(field -> title(field.getKey()).length()).max().orElse(0);
    item.properties()
        .forEach(field -> {
          JsonNode value = field.getValue();
          String title = indent + title(field.getKey());
          if (value.isObject()) {
            shell.out().println(Style.STRONG.apply(title, shell.colours()));
            print(value, indent + "  ");
          } else if (value.isArray() && !value.isEmpty() && value.get(0).isObject()) {
            shell.out().println(Style.STRONG.apply(title, shell.colours()));
            printTable(value, indent + "  ");
          } else {
            String gap = " ".repeat(width + indent.length() - title.length() + 2);
            shell
                .out()
                .println(
                    Style.STRONG.apply(title, shell.colours())
                        + gap
                        + Text.printable(plain(field.getKey(), value)));
          }
        });
  }

  /** Things of one kind, a row each: a model's recipes, a node's engines. */
  private void printTable(JsonNode things, String indent) {
    List<String> fields =
        things
            .valueStream()
            .flatMap(thing -> thing.propertyStream().map(Map.Entry::getKey))
            .distinct()
            .toList();
    List<String> titles = new ArrayList<>(fields.stream().map(Describe::title).toList());
    titles.set(0, indent + titles.getFirst());
    Table table = new Table(titles);
    for (JsonNode thing : things) {
      List<Cell> row = new ArrayList<>();
      for (String field : fields) {
        String text = plain(field, thing.path(field));
        row.add(Cell.of(row.isEmpty() ? indent + text : text));
      }
      table.add(row);
    }
    table.print(shell, Integer.MAX_VALUE);
  }

  private static String plain(String field, JsonNode value) {
    if (value.isObject()) {
      String all =
          value
              .propertyStream()
              .map(each -> each.getKey() + " " + plain(each.getKey(), each.getValue()))
              .filter(each -> !each.endsWith(" -"))
              .collect(Collectors.joining("; "));
      return all.isEmpty() ? "-" : all;
    }
    if (value.isMissingNode()) {
      return "-";
    }
    if (field.endsWith("Millis") && value.isNumber()) {
      return value.asDouble() <= 0
          ? "-"
          : String.format(Locale.ROOT, "%.1f s", value.asDouble() / 1000);
    }
    if (value.isNull() || (value.isArray() && value.isEmpty())) {
      return "-";
    }
    if (field.equals("startedWith")) {
      return Text.commandLine(value.valueStream().map(word -> word.asString("")).toList());
    }
    if ((field.endsWith("Bytes") || field.equals("bytes")) && value.isIntegralNumber()) {
      return value.asLong() <= 0 ? "-" : Text.bytes(value.asLong());
    }
    if (value.isArray()) {
      return String.join(", ", value.valueStream().map(part -> part.asString("")).toList());
    }
    if (value.isFloatingPointNumber()) {
      return String.format(Locale.ROOT, "%.1f", value.doubleValue());
    }
    String text = value.asString("");
    return text.isEmpty() ? "-" : text;
  }

  /** {@code contextTokens} as people read it: "Context tokens". */
  private static String title(String field) {
    String spaced = field.replaceAll("([a-z])([A-Z])", "$1 $2").toLowerCase(Locale.ROOT);
    spaced = spaced.replaceFirst(" (bytes|millis)$", "");
    return Character.toUpperCase(spaced.charAt(0)) + spaced.substring(1);
  }

  /** What was asked of it in the last day, where something can be asked of it at all. */
  private void printUsage(HubClient client) {
    String by =
        kind == Listing.MODELS
            ? "model"
            : kind == Listing.WORKERS || kind == Listing.BACKENDS
                ? "target"
                : kind == Listing.KEYS ? "key" : "";
    if (by.isEmpty()) {
      return;
    }
    JsonNode usage = client.get("/api/usage?by=" + by + "&name=" + HubClient.encoded(name));
    shell.out().println(Style.STRONG.apply("Last 24 hours", shell.colours()));
    shell
        .out()
        .println(
            String.format(
                Locale.ROOT,
                "  %s, %,d of them failed; %s read, %,d written",
                Counted.of(usage.path("requests").asLong(), "request"),
                usage.path("failed").asLong(),
                Counted.of(usage.path("promptTokens").asLong(), "token"),
                usage.path("completionTokens").asLong()));
    if (usage.path("ok").asLong() > 0) {
      shell
          .out()
          .println(
              String.format(
                  Locale.ROOT,
                  "  median time to the first byte %.0f ms, to the end %.0f ms",
                  usage.path("firstByteMedianMillis").asDouble(),
                  usage.path("wholeMedianMillis").asDouble()));
    }
  }

  /** What its last proof found: what did not hold, with what was expected; else its speed. */
  private void printProof(HubClient client) {
    JsonNode proofs = client.get("/api/proofs?limit=1&worker=" + HubClient.encoded(name));
    if (proofs.isEmpty()) {
      return;
    }
    JsonNode proof = proofs.get(0);
    shell.out().println(Style.STRONG.apply("Proof", shell.colours()));
    boolean passed = proof.path("passed").asBoolean();
    shell
        .out()
        .println(
            "  "
                + Text.printable(
                    proof.path("at").asString("")
                        + "  "
                        + (passed ? "passed" : "refused: " + proof.path("reason").asString(""))));
    Table table = new Table(List.of("  STAGE", "PROBE", "EXPECTED", "SEEN", "HELD"));
    for (JsonNode finding : proof.path("findings")) {
      boolean held = finding.path("held").asBoolean();
      if (!held || !finding.path("stage").asString("").equals("shape")) {
        table.add(
            List.of(
                Cell.of("  " + finding.path("stage").asString("")),
                Cell.of(finding.path("probe").asString("")),
                Cell.of(finding.path("expected").asString("")),
                Cell.of(finding.path("seen").asString("")),
                Cell.of(held ? "yes" : "no")));
      }
    }
    table.print(shell, Integer.MAX_VALUE);
    for (JsonNode level : proof.path("curve").path("levels")) {
      shell
          .out()
          .println(
              String.format(
                  Locale.ROOT,
                  "  %d at once: %.1f tok/s each, %.1f together, first token after %.0f ms%s",
                  level.path("concurrency").asInt(),
                  level.path("perRequest").asDouble(),
                  level.path("together").asDouble(),
                  level.path("firstTokenMillis").asDouble(),
                  level.path("byTime").asBoolean() ? " (by time)" : ""));
    }
    for (JsonNode prefill : proof.path("curve").path("prefills")) {
      shell
          .out()
          .println(
              String.format(
                  Locale.ROOT,
                  "  a prompt of %s: read at %.0f tok/s",
                  Counted.of(prefill.path("promptTokens").asInt(), "token"),
                  prefill.path("perSecond").asDouble()));
    }
  }

  /** Its last states, oldest first. */
  private void printHistory(HubClient client) {
    JsonNode states =
        client.get("/api/history?limit=" + STATES_SHOWN + "&worker=" + HubClient.encoded(name));
    if (states.isEmpty()) {
      return;
    }
    shell.out().println(Style.STRONG.apply("States", shell.colours()));
    for (JsonNode state : states) {
      String reason = state.path("reason").asString("");
      shell
          .out()
          .println(
              "  "
                  + Text.printable(
                      state.path("at").asString("")
                          + "  generation "
                          + state.path("generation").asLong()
                          + "  "
                          + state.path("state").asString("")
                          + (reason.isEmpty() ? "" : ": " + reason)));
    }
  }

  /** What its events are filed under. */
  private String subject() {
    return kind == Listing.REPORTS ? "report-" + name : name;
  }

  private List<JsonNode> eventsOf(HubClient client) {
    return client
        .get("/api/events?limit=" + EVENTS_SHOWN + "&subject=" + HubClient.encoded(subject()))
        .valueStream()
        .toList();
  }

  /** What happened to a model happened to its workers, those that are gone too. */
  private List<JsonNode> eventsOfModel(HubClient client) {
    Pattern its = Pattern.compile("[^/]+/" + Pattern.quote(name) + "-\\d+");
    List<JsonNode> all =
        client
            .get("/api/events?limit=" + EVENTS_LOOKED_AT)
            .valueStream()
            .filter(event -> {
              String subject = event.path("subject").asString("");
              return subject.equals(name) || its.matcher(subject).matches();
            })
            .toList();
    return all.subList(Math.max(0, all.size() - EVENTS_SHOWN), all.size());
  }

  private void printEvents(HubClient client) {
    List<JsonNode> events = kind == Listing.MODELS ? eventsOfModel(client) : eventsOf(client);
    if (events.isEmpty()) {
      return;
    }
    shell.out().println(Style.STRONG.apply("Events", shell.colours()));
    for (JsonNode event : events) {
      shell
          .out()
          .println(
              "  "
                  + Text.printable(
                      event.path("at").asString("") + "  " + event.path("message").asString("")));
    }
  }
}
