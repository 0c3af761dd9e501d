package dev.flotilla.agent.engine;

import dev.flotilla.gguf.EngineHeap;
import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.GgufRefused;
import dev.flotilla.gguf.MemoryArithmetic;
import dev.flotilla.gguf.MemoryArithmetic.CacheLayout;
import dev.flotilla.gguf.TensorType;
import dev.flotilla.wire.fleet.EngineFlags;
import dev.flotilla.wire.fleet.NodeFacts.EngineFacts;
import dev.flotilla.wire.fleet.WorkerSpec;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The built-in engine, {@code flotilla serve} in a process of its own: from a promise and a recipe
 * to its command line.
 *
 * <p>It needs nothing installed. A launch is known by its key, which is in its environment; what it
 * says of itself has the form of llama-server's, so {@link LaunchProbe} asks both.
 *
 * <p>Safe for many threads.
 */
public final class BuiltinAdapter implements EngineAdapter {
  /** What the JVM takes beside heap, weights and cache: code, classes, stacks, compilers. */
  private static final long JVM_BYTES = 160L << 20;

  private final Optional<BuiltinProgram> program;
  private final GgufHeaders headers = new GgufHeaders();

  /**
   * @param program empty where this process has no engine in it
   */
  public BuiltinAdapter(Optional<BuiltinProgram> program) {
    this.program = program;
  }

  @Override
  public String engine() {
    return EngineFlags.BUILTIN;
  }

  @Override
  public ModelForm modelForm() {
    return ModelForm.GGUF;
  }

  @Override
  public boolean hasKey() {
    return true;
  }

  @Override
  public Optional<String> contradiction(WorkerSpec spec) {
    return Contradictions.first(spec);
  }

  @Override
  public Optional<EngineFacts> found() {
    return program.map(
        each -> new EngineFacts(EngineFlags.BUILTIN, each.java().toString(), each.version()));
  }

  @Override
  public void prepare(WorkerSpec spec, ProgressListener progress) throws EngineUnavailable {
    if (program.isEmpty()) {
      throw new EngineUnavailable("This agent was built without the built-in engine.");
    }
  }

  @Override
  public int longestTokenBytes(Path model) throws ModelRefused {
    return headers.header(model).longestTokenBytes();
  }

  @Override
  public boolean inherits(String variable) {
    // Java takes options from these.
    return !variable.equals("JAVA_TOOL_OPTIONS")
        && !variable.equals("JDK_JAVA_OPTIONS")
        && !variable.startsWith("FLOTILLA_")
        && !variable.equals("HF_TOKEN");
  }

  @Override
  public MemoryNeed memoryNeed(WorkerSpec spec, Path model) throws ModelRefused {
    GgufHeader header = headers.header(model);
    GgufHeaders.checkContext(header, model, spec.contextTokens());
    boolean small = spec.args().getOrDefault("kv-type", "f16").equals("q8_0");
    TensorType type = small ? TensorType.Q8_0 : TensorType.F16;
    try {
      long cache =
          MemoryArithmetic.cacheBytes(
              header,
              new CacheLayout(spec.contextTokens(), spec.slots(), false, type, type, 256, true));
      return new MemoryNeed(
          MemoryArithmetic.weightBytes(header),
          cache,
          EngineHeap.bytes(header, spec.slots()) + JVM_BYTES);
    } catch (GgufRefused e) {
      throw new ModelRefused(String.valueOf(e.getMessage()));
    }
  }

  @Override
  public LaunchCommand command(WorkerSpec spec, Path model, int port, int threads, Launch launch) {
    BuiltinProgram engine =
        program.orElseThrow(() -> new IllegalStateException("command before prepare"));
    List<String> line = new ArrayList<>(engine.words(heap(spec, model)));
    add(line, "serve", model.toString(), "--listen", "127.0.0.1:" + port);
    add(line, "--name", spec.model());
    add(line, "--context", String.valueOf(spec.contextTokens()));
    add(line, "--slots", String.valueOf(spec.slots()));
    if (!spec.args().containsKey("threads")) {
      add(line, "--threads", String.valueOf(threads));
    }
    add(line, "--reasoning-format", place(spec));
    if (!spec.chat().template().isEmpty()) {
      add(line, "--chat-template", spec.chat().template());
    }
    spec.args().forEach((name, value) -> CommandLine.option(line, "--" + name, value));
    return new LaunchCommand(
        line,
        Map.of(
            "FLOTILLA_ENGINE_KEY",
            launch.apiKey(),
            // More arenas keep more of what was given back.
            "MALLOC_ARENA_MAX",
            "2"));
  }

  private long heap(WorkerSpec spec, Path model) {
    try {
      return EngineHeap.bytes(headers.header(model), spec.slots());
    } catch (ModelRefused gone) {
      throw new IllegalStateException("the model's file was read a moment ago", gone);
    }
  }

  private static String place(WorkerSpec spec) {
    return switch (spec.reasoning()) {
      case INLINE -> "inline";
      // The hub names the field as the promise does.
      case REASONING_CONTENT, REASONING -> "reasoning_content";
      case OFF -> "off";
    };
  }

  private static void add(List<String> line, String... words) {
    line.addAll(List.of(words));
  }

  @Override
  public Readiness probe(WorkerSpec spec, Path model, int port, Launch launch) {
    return LaunchProbe.probe(spec, port, launch);
  }

  @Override
  public String explainExit(int exitCode, List<String> lastLogLines) {
    return ExitReason.BUILTIN.explain(exitCode, lastLogLines);
  }
}
