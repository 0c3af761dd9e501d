package dev.flotilla.cli.bench;

import dev.flotilla.cli.output.Text;
import dev.flotilla.cli.output.WrongUsage;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;

/** What else is kept with a result. */
final class MetadataOption {
  @Option(
      names = "--metadata",
      paramLabel = "KEY=VALUE",
      arity = "1..*",
      description = "Kept in the result, such as commit=1a2b3c.")
  private List<String> metadata = List.of();

  MetadataOption() {}

  /** By key, in the order in which they were given. */
  Map<String, String> pairs() {
    Map<String, String> all = new LinkedHashMap<>();
    for (String pair : metadata) {
      int equals = pair.indexOf('=');
      if (equals < 1) {
        throw new WrongUsage("--metadata: '" + Text.printable(pair) + "' is not KEY=VALUE");
      }
      all.put(pair.substring(0, equals), pair.substring(equals + 1));
    }
    return all;
  }
}
