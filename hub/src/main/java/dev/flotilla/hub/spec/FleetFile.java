package dev.flotilla.hub.spec;

import java.util.List;
import java.util.stream.Collectors;

/**
 * {@code fleet.yaml}, read and written.
 *
 * <p>What is accepted is exactly what something enforces. A key, a value or an engine of the
 * language that nothing enforces yet, and a key that the language does not have, are problems at
 * their lines. All problems of a file are told at once.
 */
public final class FleetFile {

  private FleetFile() {}

  /** What came of reading a file. */
  public sealed interface Reading {

    /** The file is good. */
    record Good(FleetSpec spec) implements Reading {}

    /**
     * The file is not.
     *
     * @param fileName the file's name, as the person knows it
     * @param problems by line, at least one
     */
    record Bad(String fileName, List<Problem> problems) implements Reading {
      public Bad {
        problems = List.copyOf(problems);
      }

      /** The problems as lines of text: {@code fleet.yaml line 12: models.m.replicas: …}. */
      public String text() {
        return problems.stream()
            .map(problem -> fileName + " " + problem)
            .collect(Collectors.joining("\n"));
      }
    }
  }

  /**
   * Reads a file.
   *
   * @param yaml the whole file, at most 1 MiB
   * @param fileName for the problems' text
   */
  public static Reading read(String yaml, String fileName) {
    Problems problems = new Problems();
    FleetSpec spec =
        YamlDocument.compose(yaml, problems)
            .flatMap(root -> new FleetReader().read(new Value(root, "", problems)))
            .orElse(null);
    if (spec != null && problems.none()) {
      return new Reading.Good(spec);
    }
    return new Reading.Bad(fileName, problems.sorted());
  }

  /** Writes a file that {@link #read} reads as the same spec. Defaults are written out. */
  public static String write(FleetSpec spec) {
    return new FleetWriter().write(spec);
  }
}
