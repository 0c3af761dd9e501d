package dev.flotilla.cli.command;

import dev.flotilla.cli.client.HubClient;
import dev.flotilla.cli.client.HubOptions;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.Format;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Style;
import dev.flotilla.cli.output.Text;
import dev.flotilla.cli.output.WrongUsage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code flotilla apply}: the whole configuration, at once or not at all. */
@Command(
    name = "apply",
    description = "Checks fleet.yaml, shows what changes, and puts it in force as a whole.",
    footer = {
      "%nA file that is not in order changes nothing; the message names the line.",
      "%nExamples:",
      "  flotilla apply fleet.yaml --dry-run   only show what would change",
      "  flotilla apply fleet.yaml",
      "  flotilla apply -                      from standard input",
    })
public final class Apply implements Callable<Integer> {
  /** A fleet's file has some hundred lines; the hub takes no more than this. */
  private static final int FILE_BYTES_MAX = 1 << 20;

  private final Shell shell;

  @Mixin private final HubOptions hub = new HubOptions();

  @Parameters(paramLabel = "FILE", description = "The configuration, '-' for standard input.")
  private String file = "";

  @Option(names = "--dry-run", description = "Check and show the difference, change nothing.")
  private boolean dryRun;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      converter = Format.Converter.class,
      description = "table, json or yaml (default: table).")
  private Format format = Format.TABLE;

  public Apply(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    byte[] body = read();
    String name = file.equals("-") ? "standard input" : String.valueOf(Path.of(file).getFileName());
    JsonNode answer =
        hub.client(shell)
            .post(
                "/api/apply?dry-run=" + dryRun + "&file=" + HubClient.encoded(name),
                "application/yaml",
                body);
    if (format.forPrograms()) {
      format.printDocument(answer, shell);
      return 0;
    }
    for (JsonNode change : answer.path("changes")) {
      String line = Text.printable(change.asString(""));
      Style style =
          line.startsWith("+") ? Style.GOOD : line.startsWith("-") ? Style.BAD : Style.CARE;
      shell.out().println(style.apply(line, shell.colours()));
    }
    shell.out().println(Text.printable(answer.path("message").asString("")));
    shell.out().flush();
    return 0;
  }

  private byte[] read() {
    byte[] body;
    try {
      if (file.equals("-")) {
        body = shell.in().readNBytes(FILE_BYTES_MAX + 1);
      } else {
        try (var in = Files.newInputStream(Path.of(file))) {
          body = in.readNBytes(FILE_BYTES_MAX + 1);
        }
      }
    } catch (NoSuchFileException e) {
      throw new WrongUsage("there is no file " + file, e);
    } catch (IOException e) {
      throw new Failure("can't read " + file + ": " + e.getMessage(), e);
    }
    if (body.length > FILE_BYTES_MAX) {
      throw new Failure(file + " is larger than 1 MiB: that is no fleet.yaml");
    }
    return body;
  }
}
