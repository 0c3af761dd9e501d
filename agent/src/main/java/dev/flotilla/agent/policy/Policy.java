package dev.flotilla.agent.policy;

import dev.flotilla.wire.fleet.EngineFlags;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.release.ReleaseKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What a recipe may make this machine do. Read once when the agent starts, from {@code
 * HOME/agent/policy.yaml}; the hub has no way to change it. A key that the file does not name keeps
 * the default of the command that started the agent.
 *
 * <pre>{@code
 * engines:                        # only these engines; default: all that are known, none installed by us
 *   llama-server: { path: /opt/llama.cpp/llama-server, install: false }
 * sources: [pip, hf, https, file] # default: all four
 * folders: [/srv/models]          # local files only from here and HOME/models
 * flags:
 *   forbidden: [override-tensor]  # beside the ones that are always forbidden
 *   allowed: [threads, flash-attn] # where there: these and no others
 * memory-fraction: 0.75           # share of free memory that a new worker may take, 0.05 to 1
 * update: { keys: ["ed25519:…"] } # releases that one of these signed may replace the agent
 * }</pre>
 *
 * @param file where the policy is, or would be, for messages
 * @param engines the engines that may be started
 * @param sources kinds of model references that are followed
 * @param folders where local files may be, beside the agent's own models; empty where anywhere
 * @param allowedFlags the only engine options that a recipe may set; empty where any that is not
 *     forbidden
 * @param forbiddenFlags engine options that a recipe may not set, where {@code allowedFlags} is
 *     empty
 * @param updateKeys who signs versions that the agent may be replaced by; empty where it never is
 */
public record Policy(
    Path file,
    Map<String, EngineRule> engines,
    Set<String> sources,
    Optional<List<Path>> folders,
    Set<String> allowedFlags,
    Set<String> forbiddenFlags,
    double memoryFraction,
    List<ReleaseKey> updateKeys) {

  /** Kinds of model references. */
  public static final List<String> SOURCES = List.of("pip", "hf", "https", "file");

  /** Engines that an agent knows how to start. */
  public static final List<String> ENGINES = EngineFlags.ENGINES;

  /** See the arithmetic: three quarters of free plus inactive memory. */
  public static final double MEMORY_FRACTION_DEFAULT = 0.75;

  /**
   * Options that make an engine write files, fetch something, run programs or talk to other
   * machines. Who wants one of them lists it under {@code flags: allowed}.
   */
  public static final Set<String> FORBIDDEN_ALWAYS =
      Set.of(
          "rpc",
          "tools",
          "agent",
          "ui-mcp-proxy",
          "webui-mcp-proxy",
          "mcp-servers-config",
          "mcp-servers-json",
          "path",
          "media-path",
          "slot-save-path",
          "log-prompts-dir",
          "lookup-cache-static",
          "lookup-cache-dynamic",
          "lcs",
          "lcd",
          "mmproj-url",
          "mmu",
          "hf-repo-draft",
          "hfd",
          "hfrd",
          "hf-repo-v",
          "hfv",
          "hfrv",
          "hf-file-v",
          "hffv",
          "cors-origins",
          // vllm: code of others, files that it writes, other machines.
          "trust-remote-code",
          "middleware",
          "logits-processors",
          "tool-parser-plugin",
          "reasoning-parser-plugin",
          "io-processor-plugin",
          "worker-cls",
          "worker-extension-cls",
          "scheduler-cls",
          "model-class-overrides",
          "tool-server",
          "allowed-local-media-path",
          "hf-overrides",
          "lora-modules",
          "speculative-config",
          "spec-model",
          "profiler-config",
          "log-config-file",
          "mm-encoder-fp8-scale-save-path",
          "otlp-traces-endpoint",
          "kv-transfer-config",
          "ec-transfer-config",
          "kv-events-config",
          "weight-transfer-config",
          "enable-scale-out",
          "distributed-executor-backend",
          "nnodes",
          "node-rank",
          "master-addr",
          "master-port",
          "data-parallel-address",
          "data-parallel-rpc-port",
          "allowed-headers",
          "allowed-methods",
          "allow-credentials");

  /** Options whose value is a file that the engine reads. */
  private static final Set<String> FILE_FLAGS =
      Set.of(
          "mmproj",
          "mm",
          "lora",
          "control-vector",
          "model-draft",
          "md",
          "spec-draft-model",
          "model-vocoder",
          "mv",
          "chat-template-file",
          "grammar-file",
          "json-schema-file",
          "jf",
          "adapter-path",
          "draft-model",
          "tokenizer");

  public Policy {
    engines = Map.copyOf(engines);
    sources = Set.copyOf(sources);
    folders = folders.map(List::copyOf);
    allowedFlags = Set.copyOf(allowedFlags);
    forbiddenFlags = Set.copyOf(forbiddenFlags);
    updateKeys = List.copyOf(updateKeys);
  }

  /**
   * What holds for one engine.
   *
   * @param path the program to start; empty where it is looked for
   * @param install whether the agent may install it into its own home
   */
  public record EngineRule(Optional<Path> path, boolean install) {}

  /**
   * The policy of an agent that serves somebody else's hub: installs nothing, and reads local
   * models from {@code HOME/models} only, unless the file says otherwise.
   *
   * @throws PolicyRefused where there is a file and it can't be used
   */
  public static Policy forAgent(Path home) throws PolicyRefused {
    return PolicyFile.read(defaults(home, false, Optional.of(List.of())));
  }

  /**
   * The policy of {@code flotilla up}, where the one who writes recipes is the one at the machine:
   * may install llama-server, and reads local models from anywhere, unless the file says otherwise.
   *
   * @throws PolicyRefused where there is a file and it can't be used
   */
  public static Policy forUp(Path home) throws PolicyRefused {
    return PolicyFile.read(defaults(home, true, Optional.empty()));
  }

  private static Policy defaults(Path home, boolean install, Optional<List<Path>> folders) {
    Map<String, EngineRule> engines = new LinkedHashMap<>();
    ENGINES.forEach(engine -> engines.put(engine, new EngineRule(Optional.empty(), install)));
    return new Policy(
        home.resolve("agent").resolve("policy.yaml").toAbsolutePath().normalize(),
        engines,
        Set.copyOf(SOURCES),
        folders,
        Set.of(),
        FORBIDDEN_ALWAYS,
        MEMORY_FRACTION_DEFAULT,
        List.of());
  }

  /** The same, with other rules for engines. */
  public Policy withEngines(Map<String, EngineRule> rules) {
    return new Policy(
        file, rules, sources, folders, allowedFlags, forbiddenFlags, memoryFraction, updateKeys);
  }

  /** The rule for an engine, empty where it may not be started. */
  public Optional<EngineRule> engine(String engine) {
    return Optional.ofNullable(engines.get(engine));
  }

  /** Why this machine will not run the worker: one sentence with what to change, or nothing. */
  public Optional<String> check(WorkerSpec spec) {
    if (!engines.containsKey(spec.engine())) {
      return refusal("the engine " + spec.engine(), "add it under engines");
    }
    return checkSource(spec.source())
        .or(() -> checkTemplate(spec.chat().template()))
        .or(() -> checkFlags(spec));
  }

  private Optional<String> checkTemplate(String file) {
    return file.isEmpty() || inFolders(file)
        ? Optional.empty()
        : refusal(
            "a chat-template outside " + shownFolders(), "add the file's folder under folders");
  }

  private Optional<String> checkSource(String source) {
    String kind = kind(source);
    if (!sources.contains(kind)) {
      return refusal("models by " + kind + ":", "add it under sources");
    }
    if (kind.equals("file")
        && !inFolders(source.startsWith("file:") ? source.substring(5) : source)) {
      return refusal(
          "model files outside " + shownFolders(), "add the file's folder under folders");
    }
    return Optional.empty();
  }

  /** A path is a file; whatever begins like an address is what it begins with. */
  private static String kind(String source) {
    int colon = source.indexOf(':');
    // One letter before a colon is a drive.
    return colon > 1 && source.substring(0, colon).chars().allMatch(Policy::inScheme)
        ? source.substring(0, colon)
        : "file";
  }

  private static boolean inScheme(int c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-';
  }

  private Optional<String> checkFlags(WorkerSpec spec) {
    for (Map.Entry<String, String> flag : spec.args().entrySet()) {
      // vllm takes underscores for dashes, and like mlx-lm every beginning of a name.
      String name =
          spec.engine().equals(EngineFlags.LLAMA_SERVER)
              ? flag.getKey()
              : whole(flag.getKey().replace('_', '-'));
      if (!allowedFlags.isEmpty() && !allowedFlags.contains(name)) {
        return refusal("the option " + name, "add it under flags: allowed");
      }
      if (allowedFlags.isEmpty() && forbiddenFlags.contains(name)) {
        return refusal(
            "the option " + name,
            FORBIDDEN_ALWAYS.contains(name)
                ? "list the options that you want under flags: allowed"
                : "take it from flags: forbidden");
      }
      if (FILE_FLAGS.contains(name) && !inFolders(flag.getValue())) {
        return refusal(
            "the option %s with a file outside %s".formatted(name, shownFolders()),
            "add the file's folder under folders");
      }
    }
    return Optional.empty();
  }

  /** The forbidden option, or the one with a file, that it could be the beginning of. */
  private String whole(String name) {
    return Stream.concat(forbiddenFlags.stream(), FILE_FLAGS.stream())
        .filter(flag -> flag.startsWith(name))
        .min(Comparator.comparing((String flag) -> !flag.equals(name)).thenComparing(flag -> flag))
        .filter(flag -> !allowedFlags.contains(name))
        .orElse(name);
  }

  private boolean inFolders(String name) {
    if (folders.isEmpty()) {
      return true;
    }
    Path path;
    try {
      path = real(Path.of(name));
    } catch (InvalidPathException e) {
      return false;
    }
    Path models = modelsFolder();
    return path.startsWith(real(models))
        || folders.get().stream().anyMatch(folder -> path.startsWith(real(folder)));
  }

  /** Where the path leads once links are followed; a link out of a folder is no way out of it. */
  private static Path real(Path path) {
    try {
      return path.toRealPath();
    } catch (IOException e) {
      return path.toAbsolutePath().normalize();
    }
  }

  private Path modelsFolder() {
    Path agent = file.getParent();
    Path home = agent == null ? null : agent.getParent();
    return home == null ? Path.of("models") : home.resolve("models");
  }

  private String shownFolders() {
    StringBuilder shown = new StringBuilder(modelsFolder().toString());
    folders.orElse(List.of()).forEach(folder -> shown.append(", ").append(folder));
    return shown.toString();
  }

  private Optional<String> refusal(String what, String remedy) {
    return Optional.of(
        "This machine's policy does not allow %s; %s in %s%s and start the agent again."
            .formatted(
                what,
                remedy,
                file,
                Files.exists(file) ? "" : " (create it; docs/agent.md shows its form)"));
  }
}
