package dev.flotilla.agent.models;

import dev.flotilla.agent.models.ModelSource.Wheel;
import dev.flotilla.agent.node.BoundedProcess;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Asks the machine's own {@code pip} where a package's wheel is. So the index, its mirror, its
 * proxy and its certificates are the ones that the machine is set up with, and no address of an
 * index stands here.
 *
 * <p>{@code --only-binary} keeps pip from building a package, which would run the package's code.
 */
final class PipWheels {

  /**
   * @param address {@code https:}, {@code http:} or, where pip looks into a folder, {@code file:}
   * @param sha256 lower-case hexadecimal, empty where pip does not say
   */
  record Location(URI address, String sha256) {}

  /** How pip is started on a machine that nothing else is known of. */
  static final List<String> COMMAND = List.of("python3", "-m", "pip");

  private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");

  private final List<String> command;
  private final Duration limit;

  PipWheels(List<String> command, Duration limit) {
    this.command = List.copyOf(command);
    this.limit = limit;
  }

  Location locate(Wheel wheel) throws DownloadFailed, InterruptedException {
    String pinned = wheel.name() + "==" + wheel.version();
    List<String> arguments = new ArrayList<>(command);
    arguments.addAll(List.of("install", "--quiet", "--disable-pip-version-check", "--no-input"));
    arguments.addAll(List.of("--dry-run", "--no-deps", "--ignore-installed"));
    // A dry run writes nothing, there neither. But without a target the pip of Debian 12 and Ubuntu
    // 23.04 refuses even a dry run, for the distribution manages its own packages (PEP 668).
    arguments.addAll(List.of("--target", "never-written"));
    arguments.addAll(List.of("--only-binary", ":all:", "--report", "-", pinned));
    try {
      BoundedProcess.Finished finished =
          BoundedProcess.run(arguments, limit)
              .orElseThrow(() ->
                  new DownloadFailed(
                      "pip did not say within "
                          + limit.toSeconds()
                          + " s where "
                          + pinned
                          + " is."));
      if (finished.exitCode() != 0) {
        throw new DownloadFailed(explain(pinned, finished.exitCode(), finished.errors()));
      }
      return read(pinned, finished.output());
    } catch (IOException e) {
      throw new DownloadFailed(withoutPip(pinned, "'" + command.getFirst() + "' can't be started"));
    }
  }

  /** Reads pip's installation report. */
  static Location read(String pinned, String report) throws DownloadFailed {
    try {
      JsonNode download =
          JsonMapper.shared().readTree(report).path("install").path(0).path("download_info");
      String url = download.path("url").asString("");
      String digest = download.path("archive_info").path("hashes").path("sha256").asString("");
      if (digest.isEmpty()) {
        String older = download.path("archive_info").path("hash").asString("");
        digest = older.startsWith("sha256=") ? older.substring("sha256=".length()) : "";
      }
      digest = digest.toLowerCase(Locale.ROOT);
      URI address = URI.create(url);
      String path = address.getPath();
      if (path == null || !path.endsWith(".whl")) {
        throw new DownloadFailed("pip names no wheel for " + pinned + ".");
      }
      return new Location(address, SHA256.matcher(digest).matches() ? digest : "");
    } catch (JacksonException | IllegalArgumentException e) {
      throw new DownloadFailed(
          "pip's report on " + pinned + " can't be read; pip 22.2 or newer is needed.");
    }
  }

  private static String explain(String pinned, int exitCode, String errors) {
    if (errors.contains("No module named pip")) {
      return withoutPip(pinned, "Python has no pip");
    }
    if (errors.contains("no such option")) {
      return withoutPip(pinned, "pip is older than 22.2");
    }
    String last = "it says nothing";
    for (String line : errors.split("\n", -1)) {
      if (line.startsWith("ERROR:")) {
        last = line.substring("ERROR:".length()).strip();
      }
    }
    return "pip can't find "
        + pinned
        + " (exit code "
        + exitCode
        + "): "
        + last.substring(0, Math.min(last.length(), 300));
  }

  private static String withoutPip(String pinned, String why) {
    return why
        + ", so the package "
        + pinned
        + " can't be looked up: install pip for Python 3, or pass --model FILE with a GGUF file.";
  }
}
