package dev.flotilla.agent.engine;

import dev.flotilla.wire.fleet.NodeFacts.EngineFacts;
import dev.flotilla.wire.fleet.WorkerSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Knows one kind of engine: its command line, how it says that it is ready, and what it needs. */
public interface EngineAdapter {

  /** The engine's word in a recipe, such as {@code llama-server}. */
  String engine();

  /** What it reads a model from. */
  ModelForm modelForm();

  /**
   * Whether a launch is proved by a random key that only it knows. Where an engine has none, only
   * the owner of the listening socket tells a launch from another process.
   */
  boolean hasKey();

  /** Time that it takes to start beyond that of a program which just reads its weights. */
  default Duration slowStart() {
    return Duration.ZERO;
  }

  /**
   * What the recipe's arguments say against the promise, one sentence that names both; empty where
   * they agree. Pure.
   */
  Optional<String> contradiction(WorkerSpec spec);

  /** The program on this machine, without installing anything; empty where there is none. */
  Optional<EngineFacts> found();

  /**
   * Makes sure that the engine is there and takes the recipe's arguments; installs it where it is
   * missing and the policy allows that. Blocks; may take minutes.
   *
   * @throws EngineUnavailable where it can't be had
   */
  void prepare(WorkerSpec spec, ProgressListener progress)
      throws EngineUnavailable, InterruptedException;

  /**
   * Bytes of text that the longest token of the model stands for, 0 where unknown.
   *
   * @throws ModelRefused where the file is not a model
   */
  int longestTokenBytes(Path model) throws ModelRefused;

  /** Whether the engine's process inherits this variable of the agent's environment. */
  boolean inherits(String variable);

  /**
   * Memory that a worker will take, from the model file's header, before anything is started.
   *
   * @throws ModelRefused where the file is not a model that this engine can load
   */
  MemoryNeed memoryNeed(WorkerSpec spec, Path model) throws ModelRefused;

  /**
   * The exact process to start; {@link #prepare} has returned for this spec before.
   *
   * @param port loopback port that the engine is to listen on
   * @param threads processor threads that the worker gets
   * @param launch this launch's random key and run directory
   */
  LaunchCommand command(WorkerSpec spec, Path model, int port, int threads, Launch launch);

  /**
   * Asks the process on {@code port} whether it is this launch, ready, and as promised. Never
   * throws: what can't be reached or does not fit is a {@link Readiness} that says so. An interrupt
   * of the calling (virtual) thread ends the question.
   */
  Readiness probe(WorkerSpec spec, Path model, int port, Launch launch);

  /**
   * Asks a ready launch whether it still answers, again and again: as {@link #probe}, but never
   * waits for what the engine computes.
   */
  default Readiness pulse(WorkerSpec spec, Path model, int port, Launch launch) {
    return probe(spec, model, port, launch);
  }

  /**
   * Turns the last lines of an engine's log and its exit code into one sentence that a person
   * understands.
   *
   * @param exitCode {@link #NO_EXIT} where the process exists and will never serve
   */
  String explainExit(int exitCode, List<String> lastLogLines);

  /** In the place of an exit code. */
  int NO_EXIT = -1;

  /**
   * One launch of a worker.
   *
   * @param apiKey random key of this launch, passed by environment or a file of mode 600, never as
   *     an argument
   * @param runDirectory folder of this launch alone, inside the agent's home
   * @param generation number of the launch
   */
  record Launch(String apiKey, Path runDirectory, long generation) {}

  /**
   * A process to start.
   *
   * @param arguments program first; shown to people as it is, so it holds no secret
   * @param environment what is set on top of the agent's own (scrubbed) environment
   */
  record LaunchCommand(List<String> arguments, Map<String, String> environment) {
    public LaunchCommand {
      arguments = List.copyOf(arguments);
      environment = Map.copyOf(environment);
    }
  }

  /** Terms of the memory arithmetic, bytes. */
  record MemoryNeed(long weightBytes, long cacheBytes, long workingBytes) {
    public long totalBytes() {
      return weightBytes + cacheBytes + workingBytes;
    }
  }

  /** What a probe of a launch found. */
  sealed interface Readiness {
    /** Not there yet; {@code what} says what was seen, such as "loading the model". */
    record NotYet(String what) implements Readiness {}

    /** This launch answers, with the promised context and slots. */
    record Ready(String engineBuild, int contextTokens, int slots) implements Readiness {}

    /** This launch answers, and not as promised; {@code why} is one sentence. */
    record Wrong(String why) implements Readiness {}

    /** Something answers that is not this launch; {@code why} is one sentence. */
    record Stranger(String why) implements Readiness {}

    /** This launch exists and will never serve; {@code what} is one sentence, the log has why. */
    record Broken(String what) implements Readiness {}
  }

  /** A model file that can't be used, with the reason. */
  final class ModelRefused extends Exception {
    private static final long serialVersionUID = 1L;

    public ModelRefused(String message) {
      super(message);
    }
  }
}
