package dev.flotilla.agent.models;

import dev.flotilla.agent.engine.ProgressListener;
import java.nio.file.Path;
import java.util.Map;

/** A second process on a home: fetches one model and ends. */
final class FetchMain {
  private FetchMain() {}

  public static void main(String[] args) throws Exception {
    DownloadLimits patient = DownloadLimits.defaults();
    Path file = new ModelStore(Path.of(args[0]), Map.of(), patient).fetch(args[1], say());
    System.out.println(file);
  }

  private static ProgressListener say() {
    return (subject, step, done, total, finished) -> System.out.println(step + " " + done);
  }
}
