package dev.flotilla.cli.command;

import dev.flotilla.cli.client.HubOptions;
import dev.flotilla.cli.output.Format;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.WholeNumber;
import dev.flotilla.cli.output.WrongUsage;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
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

/** {@code flotilla get}: what is. */
@Command(
    name = "get",
    description =
        "Lists workers, nodes, models, backends, routes, events, requests, reports, keys or tokens.",
    footer = {
      "%nExamples:",
      "  flotilla get workers             the worker table, with the line each was started with",
      "  flotilla get workers -o json | jq -r '.[].name'",
      "  flotilla get events --limit 20   the newest things that happened",
    })
public final class Get implements Callable<Integer> {
  private final Shell shell;

  @Mixin private final HubOptions hub = new HubOptions();

  @Parameters(
      paramLabel = "KIND",
      converter = KindConverter.class,
      description =
          "workers, nodes, models, backends, routes, events, requests, reports, keys or tokens.")
  private Listing kind = Listing.WORKERS;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      converter = Format.Converter.class,
      description = "table, wide, json or yaml (default: table).")
  private Format format = Format.TABLE;

  @Option(
      names = "--limit",
      paramLabel = "N",
      converter = Limit.class,
      description = "Events, requests: how many at most, the newest (default: 50).")
  private int limit = 50;

  @Option(names = "--after", paramLabel = "ID", description = "Events: only those after this one.")
  private long after;

  @Option(
      names = "--subject",
      paramLabel = "NAME",
      description = "Events: only those of this worker, node, model, key or revision.")
  private @Nullable String subject;

  public Get(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    if (after < 0) {
      throw new WrongUsage("--after: an event's number is 0 or more, not " + after);
    }
    String path = kind.path();
    if (kind == Listing.EVENTS) {
      path += "?limit=" + limit + "&after=" + after;
      if (subject != null) {
        path += "&subject=" + URLEncoder.encode(subject, StandardCharsets.UTF_8);
      }
    }
    if (kind == Listing.REQUESTS) {
      path += "?limit=" + limit;
    }
    kind.print(hub.client(shell).get(path), format, shell);
    return 0;
  }

  /** As many as a hub hands out at once. */
  static final class Limit extends WholeNumber {
    Limit() {
      super(1, 1000);
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
