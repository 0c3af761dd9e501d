package dev.flotilla.cli.bench;

import dev.flotilla.bench.measure.Goals;
import dev.flotilla.bench.measure.Result;
import dev.flotilla.bench.report.ResultFiles;
import dev.flotilla.bench.report.ResultJson;
import dev.flotilla.bench.report.Shown;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.NamedFile;
import dev.flotilla.cli.output.WrongUsage;
import java.io.IOException;
import java.nio.file.Path;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** What is made of a run's figures: what is shown, what counts as good, what is kept. */
final class ResultOptions {
  @Option(
      names = "--goodput",
      paramLabel = "NAME:MS",
      arity = "1..*",
      description = "Goals that a good request keeps: ttft, tpot, e2el, such as ttft:200 tpot:50.")
  private List<String> goals = List.of();

  @Option(
      names = "--percentile-metrics",
      paramLabel = "LIST",
      defaultValue = "ttft,tpot,itl,e2el",
      description = "Latencies that are shown (default: ttft,tpot,itl,e2el).")
  private String metrics = "";

  @Option(
      names = "--metric-percentiles",
      paramLabel = "LIST",
      defaultValue = "99",
      description = "Percentiles that are shown (default: 99).")
  private String percentiles = "";

  @Option(
      names = "--save-result",
      description = "Writes the result as JSON, in the keys of vllm bench serve.")
  private boolean save;

  @Option(names = "--save-detailed", description = "With --save-result: every request too.")
  private boolean detailed;

  @Option(
      names = "--append-result",
      description = "With --save-result: adds to the file instead of replacing it.")
  private boolean append;

  @Option(
      names = "--result-dir",
      paramLabel = "FOLDER",
      description = "Where results are written (default: here).")
  private @Nullable Path folder;

  @Option(
      names = "--result-filename",
      paramLabel = "NAME",
      description = "The file's name (default: made of what was measured).")
  private @Nullable String fileName;

  @Mixin private final MetadataOption metadata = new MetadataOption();

  @Option(names = "--label", paramLabel = "TEXT", description = "What the result is called.")
  private @Nullable String label;

  ResultOptions() {}

  Goals goals() {
    try {
      return Goals.parse(goals);
    } catch (IllegalArgumentException e) {
      throw new WrongUsage("--goodput: " + e.getMessage(), e);
    }
  }

  Shown shown() {
    try {
      return Shown.parse(metrics, percentiles);
    } catch (IllegalArgumentException e) {
      throw new WrongUsage("--percentile-metrics, --metric-percentiles: " + e.getMessage(), e);
    }
  }

  Map<String, String> metadata() {
    Map<String, String> all = metadata.pairs();
    if (label != null) {
      all.put("label", label);
    }
    return all;
  }

  /** Says what can't be meant, before anything is measured. */
  void check() {
    goals();
    shown();
    metadata();
    if (save && fileName != null) {
      NamedFile.writable(folder == null ? "--result-filename" : "--result-dir", in(fileName));
    } else if (save) {
      Path here = folder == null ? Path.of("").toAbsolutePath() : folder;
      NamedFile.folder(folder == null ? "--save-result" : "--result-dir", here);
    }
    if (!save && (append || detailed || fileName != null || folder != null)) {
      throw new WrongUsage(
          (append
                  ? "--append-result"
                  : detailed
                      ? "--save-detailed"
                      : fileName != null ? "--result-filename" : "--result-dir")
              + " says how a result is written; --save-result says that it is");
    }
  }

  private Path in(String name) {
    return folder == null ? Path.of(name) : folder.resolve(name);
  }

  /** Writes the result where it is wanted; says which file it is in. */
  Optional<Path> save(Result result) {
    if (!save) {
      return Optional.empty();
    }
    ZoneId zone = ZoneId.systemDefault();
    String name =
        fileName != null
            ? fileName
            : ResultFiles.name(
                result.run().load(), Optional.ofNullable(label), result.run().startedAt(), zone);
    Path file = in(name);
    ObjectNode json = ResultJson.of(result, detailed, zone);
    try {
      if (append) {
        new ResultFiles().append(file, json);
      } else {
        new ResultFiles().write(file, json);
      }
    } catch (IOException e) {
      throw new Failure(String.valueOf(e.getMessage()), e);
    }
    return Optional.of(file);
  }
}
