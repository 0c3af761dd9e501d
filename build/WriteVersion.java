import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Writes what this build is called, beside its jars: the project's version, and where the source
 * tree is a git repository the number of commits and the commit, {@code 0.1.0+412.g4cad8a3}. A
 * build of changed files says so with {@code -dirty}.
 */
public final class WriteVersion {
  private static final int GIT_SECONDS_MAX = 20;

  private WriteVersion() {}

  /** Arguments: the source tree, the project's version, the file to write. */
  public static void main(String[] args) throws IOException, InterruptedException {
    Path root = Path.of(args[0]).toRealPath();
    String version = args[1] + revision(root).orElse("");
    Path file = Path.of(args[2]);
    String text = version + "\n";
    if (!Files.exists(file) || !Files.readString(file).equals(text)) {
      Files.writeString(file, text);
    }
  }

  private static Optional<String> revision(Path root) throws IOException, InterruptedException {
    Optional<String> top = git(root, "rev-parse", "--show-toplevel");
    if (top.isEmpty() || !Path.of(top.get()).toRealPath().equals(root)) {
      return Optional.empty(); // No repository, or somebody else's around this tree.
    }
    Optional<String> commits = git(root, "rev-list", "--count", "HEAD");
    Optional<String> commit = git(root, "rev-parse", "--short=9", "HEAD");
    Optional<String> changes = git(root, "status", "--porcelain", "--untracked-files=no");
    if (commits.isEmpty() || commit.isEmpty()) {
      return Optional.empty();
    }
    boolean dirty = changes.filter(text -> !text.isEmpty()).isPresent();
    return Optional.of("+" + commits.get() + ".g" + commit.get() + (dirty ? "-dirty" : ""));
  }

  /** What git prints; empty where it does not work here. */
  private static Optional<String> git(Path root, String... words)
      throws IOException, InterruptedException {
    List<String> command = Stream.concat(Stream.of("git"), Stream.of(words)).toList();
    Process process;
    try {
      process =
          new ProcessBuilder(command)
              .directory(root.toFile())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException e) {
      return Optional.empty(); // There is no git.
    }
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (!process.waitFor(GIT_SECONDS_MAX, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      return Optional.empty();
    }
    return process.exitValue() == 0 ? Optional.of(said.strip()) : Optional.empty();
  }
}
