package dev.flotilla.cli.command;

import dev.flotilla.cli.client.HubClient;
import dev.flotilla.cli.client.HubOptions;
import dev.flotilla.cli.output.Format;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Since;
import dev.flotilla.cli.output.WholeNumber;
import dev.flotilla.cli.output.WrongUsage;
import java.time.Instant;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;

/** {@code flotilla get}: what is. */
@Command(
    name = "get",
    description =
        "Lists workers, nodes, models, backends, routes, events, requests, usage, reports, releases,"
            + " keys or tokens.",
    footer = {
      "%nExamples:",
      "  flotilla get workers             the worker table, with the line each was started with",
      "  flotilla get workers -o json | jq -r '.[].name'",
      "  flotilla get events --limit 20   the newest things that happened",
      "  flotilla get usage --since 7d -o jsonl > week.jsonl",
      "                                   the usage log, which 'flotilla bench --dataset replay' takes",
    })
public final class Get implements Callable<Integer> {
  private static final int LIMIT = 50;
  private static final int LIMIT_MAX = 1_000;
  private static final int USAGE_LIMIT = 10_000;

  private final Shell shell;

  @Mixin private final HubOptions hub = new HubOptions();

  @Parameters(
      paramLabel = "KIND",
      converter = KindConverter.class,
      description =
          "workers, nodes, models, backends, routes, events, requests, usage, reports, releases, keys"
              + " or tokens.")
  private Listing kind = Listing.WORKERS;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      converter = Format.Converter.class,
      description = "table, wide, json, jsonl or yaml (default: table).")
  private Format format = Format.TABLE;

  @Option(
      names = "--limit",
      paramLabel = "N",
      converter = Limit.class,
      description =
          "Events, requests: how many at most, the newest (default: 50, up to 1000). Usage: how many"
              + " at most, the oldest (default: 10000, up to 1000000).")
  private @Nullable Integer limit;

  @Option(names = "--after", paramLabel = "ID", description = "Events: only those after this one.")
  private long after;

  @Option(
      names = "--subject",
      paramLabel = "NAME",
      description = "Events: only those of this worker, node, model, key or revision.")
  private @Nullable String subject;

  @Option(
      names = "--since",
      paramLabel = "WHEN",
      converter = Since.class,
      description =
          "Usage: from when on: a time ago, such as 90m, 24h or 7d, or an instant, such as"
              + " 2026-03-01T08:00:00Z (default: 24h).")
  private @Nullable Instant since;

  @Option(
      names = "--only-model",
      paramLabel = "NAME",
      description = "Usage: requests of this model alone.")
  private @Nullable String onlyModel;

  @Option(
      names = "--only-key",
      paramLabel = "NAME",
      description = "Usage: requests of this client key alone.")
  private @Nullable String onlyKey;

  public Get(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    if (after < 0) {
      throw new WrongUsage("--after: an event's number is 0 or more, not " + after);
    }
    if (kind == Listing.USAGE) {
      return usage();
    }
    int most = limit == null ? LIMIT : limit;
    if (most > LIMIT_MAX) {
      throw new WrongUsage("--limit: '" + most + "' is not a whole number from 1 to " + LIMIT_MAX);
    }
    String path = kind.path();
    if (kind == Listing.EVENTS) {
      path += "?limit=" + most + "&after=" + after;
      if (subject != null) {
        path += "&subject=" + HubClient.encoded(subject);
      }
    }
    if (kind == Listing.REQUESTS) {
      path += "?limit=" + most;
    }
    kind.print(hub.client(shell).get(path), format, shell);
    return 0;
  }

  /** Lines go on as they come, where they are wanted as lines: a log may be long. */
  private int usage() {
    String path = kind.path() + "?limit=" + (limit == null ? USAGE_LIMIT : limit);
    path += since == null ? "" : "&since=" + HubClient.encoded(since.toString());
    path += onlyModel == null ? "" : "&model=" + HubClient.encoded(onlyModel);
    path += onlyKey == null ? "" : "&key=" + HubClient.encoded(onlyKey);
    if (format == Format.JSONL) {
      hub.client(shell).lines(path, line -> shell.out().println(line));
      shell.out().flush();
      return 0;
    }
    ArrayNode list = JsonMapper.shared().createArrayNode();
    hub.client(shell).lines(path, line -> list.add(JsonMapper.shared().readTree(line)));
    kind.print(list, format, shell);
    return 0;
  }

  /** As many as a hub hands out at once, of the usage log. */
  static final class Limit extends WholeNumber {
    Limit() {
      super(1, 1_000_000);
    }
  }

  /** Takes a kind as users write it, in the singular too. */
  static final class KindConverter implements ITypeConverter<Listing> {
    @Override
    public Listing convert(String word) {
      String lower = word.toLowerCase(Locale.ROOT);
      for (Listing listing : Listing.ALL) {
        if (listing.word().equals(lower) || listing.singular().equals(lower)) {
          return listing;
        }
      }
      throw new TypeConversionException(
          "'"
              + word
              + "' is not one of "
              + Listing.ALL.stream().map(Listing::word).collect(Collectors.joining(", ")));
    }
  }
}
