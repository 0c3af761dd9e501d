package dev.flotilla.cli.bench;

import dev.flotilla.agent.engine.BuiltinAdapter;
import dev.flotilla.agent.engine.BuiltinProgram;
import dev.flotilla.agent.engine.EngineAdapter;
import dev.flotilla.agent.engine.LlamaServerAdapter;
import dev.flotilla.agent.engine.LlamaServerInstallation;
import dev.flotilla.agent.engine.ProgressListener;
import dev.flotilla.agent.models.DownloadLimits;
import dev.flotilla.agent.models.ModelStore;
import dev.flotilla.agent.policy.Policy;
import dev.flotilla.agent.policy.Policy.EngineRule;
import dev.flotilla.agent.process.ModelFiles.ModelUnavailable;
import dev.flotilla.bench.launch.CommandEngine;
import dev.flotilla.bench.launch.EngineChoice;
import dev.flotilla.bench.launch.EngineChoice.Known;
import dev.flotilla.bench.launch.EngineStart;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.serve.AgentNews;
import dev.flotilla.cli.serve.Engines;
import dev.flotilla.cli.serve.ModelName;
import dev.flotilla.cli.serve.UpModel;
import dev.flotilla.wire.fleet.EngineFlags;
import java.nio.file.Path;
import java.util.Map;

/**
 * Engines and models of this machine for a benchmark: found, or fetched into the state folder, as
 * {@code flotilla up} would.
 */
final class LocalEngineStarts {
  private final Path home;
  private final Shell shell;
  private final EngineOptions options;
  private final Policy policy;
  private final LocalMachine machine;
  private final ProgressListener progress;

  /**
   * @throws Failure where the state folder's policy can't be read
   */
  LocalEngineStarts(Path home, Shell shell, EngineOptions options) {
    this.home = home;
    this.shell = shell;
    this.options = options;
    this.policy = Engines.policy(Policy::forUp, home, options.enginePath(), true);
    this.machine =
        new LocalMachine(Cores.of(searchPath()), policy.memoryFraction(), options.readyTimeout());
    this.progress = new AgentNews(shell, System::nanoTime);
  }

  LocalMachine machine() {
    return machine;
  }

  Policy policy() {
    return policy;
  }

  Path home() {
    return home;
  }

  /** Where programs are looked for. */
  String searchPath() {
    return shell.variable("PATH").orElse("");
  }

  /** The file that the reference names, fetched where it is not here yet. */
  Path fetch(String reference) {
    try {
      return new ModelStore(home.resolve("models"), shell.environment(), DownloadLimits.defaults())
          .fetch(UpModel.source(reference), progress);
    } catch (ModelUnavailable e) {
      throw new Failure(String.valueOf(e.getMessage()), e);
    }
  }

  /** llama-server with no options of its own. */
  EngineStart llamaServer(String model) {
    return known(new Known("llama-server", "llama-server", Map.of()), model);
  }

  /**
   * What starts that engine.
   *
   * @param model the reference that the model was named by
   */
  EngineStart known(Known choice, String model) {
    EngineRule rule =
        policy
            .engine(choice.engine())
            .orElseThrow(
                () -> new Failure(policy.file() + " does not allow the engine " + choice.engine()));
    EngineAdapter adapter =
        choice.engine().equals(EngineFlags.BUILTIN)
            ? new BuiltinAdapter(BuiltinProgram.ofThisProcess())
            : new LlamaServerAdapter(new LlamaServerInstallation(home, rule, searchPath()));
    return new KnownEngineStart(choice, ModelName.of(model), adapter, progress, machine);
  }

  /** What starts that engine. */
  EngineStart command(EngineChoice.Command choice) {
    return new CommandEngine(choice.name(), choice.template(), machine, options.readyWithin());
  }
}
