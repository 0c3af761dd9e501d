package dev.flotilla.agent.engine;

import dev.flotilla.agent.node.BoundedProcess;
import dev.flotilla.agent.policy.Policy.EngineRule;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds llama-server on this machine: the program that the policy names, else the one on the PATH,
 * else the one in the agent's home; and installs that last one where the policy allows it.
 *
 * <p>What a program says of itself ({@code --version}, {@code --help}) is asked once and kept until
 * the program's file changes. Safe for many threads; two agents on one home take turns to install
 * ({@link PackagedEngine}).
 */
public final class LlamaServerInstallation {
  private static final System.Logger LOG =
      System.getLogger(LlamaServerInstallation.class.getName());

  /** The first start after an installation reads some hundred megabytes from a cold disk. */
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(60);

  private static final Pattern FLAG = Pattern.compile("(?<![\\w-])(--?[A-Za-z][\\w-]*)");

  static final PackagedEngine.PinnedPackage PACKAGE =
      new PackagedEngine.PinnedPackage(
          "llama-server",
          "xllamacpp-2026.10.11549",
          "xllamacpp==2026.10.11549",
          true,
          "llama_server_launcher.py",
          List.of("--version"),
          10,
          512L << 20);

  private final EngineRule rule;
  private final String searchPath;
  private final PackagedEngine packaged;
  private final Map<Path, Asked> asked = new ConcurrentHashMap<>();

  /**
   * @param home the agent's home
   * @param rule what the policy says of this engine
   * @param searchPath where programs are looked for, as in the variable PATH
   */
  public LlamaServerInstallation(Path home, EngineRule rule, String searchPath) {
    this.rule = rule;
    this.searchPath = searchPath;
    this.packaged = new PackagedEngine(PACKAGE, home.toAbsolutePath().normalize(), searchPath);
  }

  /**
   * A llama-server.
   *
   * @param program the program and what stands before llama-server's own options
   * @param version what it says of itself
   * @param flags every option that its help names, with its dashes
   */
  record Binary(List<String> program, String version, Set<String> flags) {
    boolean takes(String flag) {
      return flags.contains(flag);
    }

    /** The file that would be started or interpreted, for people. */
    String path() {
      return program.getLast();
    }
  }

  /** What a program said, and of which state of its file. */
  private record Asked(FileTime modified, @Nullable Binary binary) {}

  /** The program that would be started now, without installing anything. */
  Optional<Binary> found() throws InterruptedException {
    if (rule.path().isPresent()) {
      return ask(List.of(rule.path().get().toString()));
    }
    for (Path program : programs(searchPath, "llama-server")) {
      Optional<Binary> binary = ask(List.of(program.toString()));
      if (binary.isPresent()) {
        return binary;
      }
      LOG.log(
          System.Logger.Level.WARNING,
          "{0} is on the PATH and does not answer --version and --help; it is passed over",
          program);
    }
    Optional<List<String>> program = packaged.program();
    return program.isPresent() ? ask(program.get()) : Optional.empty();
  }

  /**
   * The program to start, installed first where it is missing and may be.
   *
   * @throws EngineUnavailable with the way to get one
   */
  Binary ensure(ProgressListener progress) throws EngineUnavailable, InterruptedException {
    Optional<Binary> found = found();
    if (found.isPresent()) {
      return found.get();
    }
    if (rule.path().isPresent()) {
      throw new EngineUnavailable(
          "The policy names the llama-server %s, which %s; correct engines: llama-server: path."
              .formatted(
                  rule.path().get(),
                  Files.isExecutable(rule.path().get())
                      ? "does not answer --version and --help"
                      : "is no program that can be started"));
    }
    if (!rule.install()) {
      throw new EngineUnavailable(
          "No llama-server is on the PATH, and the policy does not allow to install it: install"
              + " llama.cpp, or set engines: llama-server: { install: true } (or path: FILE) in"
              + " the agent's policy.yaml.");
    }
    packaged.install(progress);
    return found()
        .orElseThrow(() ->
            new EngineUnavailable(
                "llama-server was installed under %s and does not answer; remove that folder to"
                        .formatted(packaged.folder())
                    + " have it installed again."));
  }

  private Optional<Binary> ask(List<String> program) throws InterruptedException {
    Path file = Path.of(program.getFirst());
    try {
      if (!Files.isExecutable(file) || Files.isDirectory(file)) {
        return Optional.empty();
      }
      FileTime modified = Files.getLastModifiedTime(Path.of(program.getLast()));
      Asked before = asked.get(file);
      if (before != null && before.modified.equals(modified)) {
        return Optional.ofNullable(before.binary);
      }
      Binary binary = askProgram(program);
      asked.put(file, new Asked(modified, binary));
      return Optional.ofNullable(binary);
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "{0} can't be started: {1}", file, e.getMessage());
      return Optional.empty();
    }
  }

  private static @Nullable Binary askProgram(List<String> program)
      throws IOException, InterruptedException {
    Optional<BoundedProcess.Finished> version = answer(program, "--version");
    Optional<BoundedProcess.Finished> help = answer(program, "--help");
    if (version.isEmpty() || help.isEmpty()) {
      return null;
    }
    Set<String> flags = new HashSet<>();
    Matcher matcher = FLAG.matcher(help.get().output() + help.get().errors());
    while (matcher.find()) {
      flags.add(matcher.group(1));
    }
    return flags.contains("--model") ? new Binary(program, version(version.get()), flags) : null;
  }

  private static Optional<BoundedProcess.Finished> answer(List<String> program, String flag)
      throws IOException, InterruptedException {
    List<String> command = new java.util.ArrayList<>(program);
    command.add(flag);
    return BoundedProcess.run(command, ANSWER_WITHIN).filter(finished -> finished.exitCode() == 0);
  }

  /** llama-server writes {@code version: N (COMMIT)} to its error stream. */
  private static String version(BoundedProcess.Finished finished) {
    return (finished.errors() + "\n" + finished.output())
        .lines()
        .filter(line -> line.startsWith("version: "))
        .map(line -> line.substring("version: ".length()).strip())
        .map(line -> line.substring(0, Math.min(line.length(), 100)))
        .findFirst()
        .orElse("");
  }

  /** Programs of this name, in the order of the search path. */
  static List<Path> programs(String searchPath, String name) {
    return java.util.Arrays.stream(searchPath.split(File.pathSeparator, -1))
        .filter(folder -> !folder.isEmpty())
        .map(folder -> Path.of(folder, name))
        .filter(file -> Files.isExecutable(file) && !Files.isDirectory(file))
        .toList();
  }
}
