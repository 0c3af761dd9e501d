package dev.flotilla.cli.bench;

import dev.flotilla.bench.measure.Sweep;
import dev.flotilla.bench.report.ResultFiles;
import dev.flotilla.bench.report.ResultJson;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.Shell;
import java.io.IOException;
import java.nio.file.Path;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** What is kept of an experiment beside what is printed. */
final class ReportOptions {
  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Writes what was measured as JSON, to be compared later.")
  private @Nullable Path json;

  /** What is kept. */
  sealed interface Measured {
    /** A sweep. */
    record OfSweep(Sweep sweep) implements Measured {}
  }

  ReportOptions() {}

  void check() {}

  void keep(Measured measured, Shell shell) {
    ObjectNode document =
        switch (measured) {
          case Measured.OfSweep(Sweep sweep) -> ResultJson.of(sweep, true, ZoneId.systemDefault());
        };
    if (json != null) {
      try {
        new ResultFiles().write(json, document);
        shell.err().println("the result is in " + json);
      } catch (IOException e) {
        throw new Failure(String.valueOf(e.getMessage()), e);
      }
    }
  }
}
