package dev.flotilla.agent;

import dev.flotilla.agent.engine.BuiltinAdapter;
import dev.flotilla.agent.engine.BuiltinProgram;
import dev.flotilla.agent.engine.EngineAdapter;
import dev.flotilla.agent.engine.LlamaServerAdapter;
import dev.flotilla.agent.engine.LlamaServerInstallation;
import dev.flotilla.agent.engine.MlxLmAdapter;
import dev.flotilla.agent.engine.PythonInstallation;
import dev.flotilla.agent.engine.VllmAdapter;
import dev.flotilla.agent.policy.Policy;
import dev.flotilla.agent.process.MemoryRoom;
import dev.flotilla.agent.process.ProcessStarter;
import dev.flotilla.agent.process.Supervisor;
import dev.flotilla.wire.fleet.EngineFlags;
import dev.flotilla.wire.fleet.NodeFacts.EngineFacts;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.lanes.ControlMessage.Desired;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;

/** The engines of this machine, as far as its policy allows them, under a {@link Supervisor}. */
public final class LocalEngines implements Supervision.Source {
  private final Policy policy;
  private final List<EngineAdapter> adapters;
  private final ProcessStarter starter;

  /**
   * Engines of one agent.
   *
   * @param home the agent's home, which installed engines are in
   * @param searchPath where programs are looked for, as in the variable PATH
   */
  public LocalEngines(Path home, Policy policy, String searchPath) {
    this(home, policy, searchPath, ProcessStarter.inOwnSession());
  }

  /**
   * Engines of one agent, started in a way of the caller's, such as on certain processors.
   *
   * @param home the agent's home, which installed engines are in
   * @param searchPath where programs are looked for, as in the variable PATH
   */
  public LocalEngines(Path home, Policy policy, String searchPath, ProcessStarter starter) {
    this.policy = policy;
    this.starter = starter;
    this.adapters = adapters(home, policy, searchPath);
  }

  /** Of the engines that the policy allows. */
  public static List<EngineAdapter> adapters(Path home, Policy policy, String searchPath) {
    boolean linux = System.getProperty("os.name", "").toLowerCase(Locale.ROOT).contains("linux");
    List<EngineAdapter> adapters = new ArrayList<>();
    policy
        .engine(EngineFlags.LLAMA_SERVER)
        .map(rule -> new LlamaServerAdapter(new LlamaServerInstallation(home, rule, searchPath)))
        .ifPresent(adapters::add);
    policy
        .engine(EngineFlags.VLLM)
        .map(rule -> new VllmAdapter(PythonInstallation.vllm(rule, searchPath)))
        .ifPresent(adapters::add);
    policy
        .engine(EngineFlags.MLX_LM)
        .map(rule -> new MlxLmAdapter(PythonInstallation.mlxLm(home, rule, searchPath, linux)))
        .ifPresent(adapters::add);
    policy
        .engine(EngineFlags.BUILTIN)
        .map(rule -> new BuiltinAdapter(BuiltinProgram.ofThisProcess()))
        .ifPresent(adapters::add);
    return List.copyOf(adapters);
  }

  @Override
  public List<EngineFacts> engines() {
    return adapters.stream().map(EngineAdapter::found).flatMap(Optional::stream).toList();
  }

  @Override
  public Supervision start(Supervision.Surroundings around) {
    Supervisor supervisor =
        new Supervisor(
            around.home(),
            around.facts().get().physicalCores(),
            policy,
            adapters,
            around.models(),
            spec -> MemoryRoom.of(spec, around.facts().get()),
            around.listener(),
            starter);
    supervisor.start();
    return new Supervised(supervisor);
  }

  /** A supervisor in the words of the lanes. */
  private record Supervised(Supervisor supervisor) implements Supervision {
    @Override
    public List<WorkerReport> reports() {
      return supervisor.reports();
    }

    @Override
    public void desired(Desired desired) {
      supervisor.desired(desired.workers());
    }

    @Override
    public void restart(String worker) {
      supervisor.restart(worker);
    }

    @Override
    public EnginePort port(String worker, long generation) {
      OptionalInt port = supervisor.port(worker, generation);
      return port.isPresent()
          ? new EnginePort.Live(port.getAsInt())
          : new EnginePort.None("launch " + generation + " of " + worker + " is not ready here");
    }

    @Override
    public void close() {
      supervisor.close();
    }
  }
}
