import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Makes an AOT cache (JEP 514) that lets flotilla start in a fraction of the time: runs the hub, or
 * the built-in engine, once, for real, with the options that the launcher uses, and lets the JVM
 * write down what it loaded and compiled. Run at {@code package} by the JDK that will run flotilla.
 *
 * <p>The cache is a convenience: where it can't be made, this says so in one line and ends well.
 */
public final class MakeAotCache {

  private static final int LIMIT_SECONDS = 120;

  private MakeAotCache() {}

  /**
   * Arguments: the folder with the jars, the file with java's options, the cache to write, the
   * command that is the training run.
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    Path lib = Path.of(args[0]);
    Path options = Path.of(args[1]);
    Path cache = Path.of(args[2]);
    if (isCurrent(cache, lib, options)) {
      return;
    }
    Files.deleteIfExists(cache);
    Path log = cache.resolveSibling(cache.getFileName() + ".log");
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "@" + options,
            "-XX:AOTCacheOutput=" + cache,
            "-cp",
            lib.resolve("flotilla-cli.jar").toString(),
            "dev.flotilla.cli.Main",
            args[3]);
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
    if (!ended) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly().waitFor();
    }
    if (!ended || process.exitValue() != 0 || !Files.exists(cache)) {
      Files.deleteIfExists(cache);
      System.out.println(
          "AOT cache not made ("
              + (ended ? "the training run ended with " + process.exitValue() : "not ready in time")
              + "): flotilla works, and starts a second later; see "
              + log);
    }
  }

  /** A cache is of use only with the very jars it was made from. */
  private static boolean isCurrent(Path cache, Path lib, Path options) throws IOException {
    if (!Files.exists(cache)) {
      return false;
    }
    FileTime made = Files.getLastModifiedTime(cache);
    if (Files.getLastModifiedTime(options).compareTo(made) > 0) {
      return false;
    }
    try (var jars = Files.list(lib)) {
      return jars.noneMatch(jar -> modified(jar).compareTo(made) > 0);
    }
  }

  private static FileTime modified(Path file) {
    try {
      return Files.getLastModifiedTime(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
