package dev.flotilla.agent.process;

import dev.flotilla.agent.engine.EngineAdapter;
import dev.flotilla.agent.engine.EngineUnavailable;
import dev.flotilla.agent.engine.ModelForm;
import dev.flotilla.agent.engine.ProgressListener;
import dev.flotilla.wire.fleet.NodeFacts.EngineFacts;
import dev.flotilla.wire.fleet.WorkerSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * An engine of real processes that behave as the recipe's argument {@code do} says; ready when a
 * file says so.
 */
final class ShellEngine implements EngineAdapter {
  static final String READY = "touch ready; exec sleep 600";
  static final String NEVER_READY = "exec sleep 600";
  static final String DIES_AT_ONCE = "echo no such option; exit 3";
  static final String IGNORES_TERM = "trap '' TERM; touch ready; while :; do sleep 0.1; done";
  static final String HAS_A_CHILD = "sleep 600 & echo $! > child; touch ready; wait";
  static final String CHATTERS = "yes 'a line of words'";

  volatile MemoryNeed need = new MemoryNeed(100, 20, 3);
  volatile Optional<String> missing = Optional.empty();
  volatile Optional<String> wrong = Optional.empty();
  volatile Optional<String> stranger = Optional.empty();
  volatile boolean keyed = true;

  /** The launch whose process accepts questions and never answers; 0 is none. */
  volatile long hangs;

  @Override
  public String engine() {
    return "llama-server";
  }

  @Override
  public ModelForm modelForm() {
    return ModelForm.GGUF;
  }

  @Override
  public boolean hasKey() {
    return keyed;
  }

  @Override
  public Optional<String> contradiction(WorkerSpec spec) {
    return Optional.ofNullable(spec.args().get("contradicts"));
  }

  @Override
  public Optional<EngineFacts> found() {
    return Optional.empty();
  }

  @Override
  public void prepare(WorkerSpec spec, ProgressListener progress) throws EngineUnavailable {
    if (missing.isPresent()) {
      throw new EngineUnavailable(missing.get());
    }
  }

  @Override
  public int longestTokenBytes(Path model) {
    return 7;
  }

  @Override
  public boolean inherits(String variable) {
    return !variable.startsWith("HOME");
  }

  @Override
  public MemoryNeed memoryNeed(WorkerSpec spec, Path model) throws ModelRefused {
    if (!Files.exists(model)) {
      throw new ModelRefused(model + ": there is no such file");
    }
    return need;
  }

  @Override
  public LaunchCommand command(WorkerSpec spec, Path model, int port, int threads, Launch launch) {
    return new LaunchCommand(
        List.of(
            "sh",
            "-c",
            spec.args().getOrDefault("do", READY),
            "engine",
            String.valueOf(port),
            "threads",
            String.valueOf(threads)),
        Map.of("ENGINE_KEY", launch.apiKey()));
  }

  @Override
  public Readiness probe(WorkerSpec spec, Path model, int port, Launch launch) {
    if (wrong.isPresent()) {
      return new Readiness.Wrong(wrong.get());
    }
    if (stranger.isPresent()) {
      return new Readiness.Stranger(stranger.get());
    }
    if (launch.generation() == hangs) {
      LockSupport.parkNanos(Duration.ofHours(1).toNanos()); // an interrupt ends it
    }
    return Files.exists(launch.runDirectory().resolve("ready"))
        ? new Readiness.Ready("shell 1", spec.contextTokens(), spec.slots())
        : new Readiness.NotYet("no file says that it is ready");
  }

  @Override
  public String explainExit(int exitCode, List<String> lastLogLines) {
    return "Exit code " + exitCode + ", last line: " + String.join(" / ", lastLogLines) + ".";
  }
}
