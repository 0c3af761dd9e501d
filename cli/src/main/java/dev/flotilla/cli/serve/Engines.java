package dev.flotilla.cli.serve;

import dev.flotilla.agent.LocalEngines;
import dev.flotilla.agent.engine.BuiltinProgram;
import dev.flotilla.agent.policy.Policy;
import dev.flotilla.agent.policy.Policy.EngineRule;
import dev.flotilla.agent.policy.PolicyRefused;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.NamedFile;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.wire.fleet.EngineFlags;
import dev.flotilla.wire.fleet.NodeFacts.EngineFacts;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The engines of an agent, as its policy and its command line say. */
public final class Engines {
  private static final String LLAMA_SERVER = EngineFlags.LLAMA_SERVER;

  private Engines() {}

  /** Reads the policy of a state folder. */
  @FunctionalInterface
  public interface PolicyOf {
    Policy read(Path home) throws PolicyRefused;
  }

  /**
   * A home's policy with what the command line says of llama-server.
   *
   * @param path the program to start; null leaves the policy's
   * @param install whether it may be installed, beside what the policy says
   */
  public static Policy policy(PolicyOf source, Path home, @Nullable Path path, boolean install) {
    try {
      return withEngine(source.read(home), path, install);
    } catch (PolicyRefused e) {
      throw new Failure(String.valueOf(e.getMessage()), e);
    }
  }

  private static Policy withEngine(Policy policy, @Nullable Path path, boolean install) {
    Optional<EngineRule> rule = policy.engine(LLAMA_SERVER);
    if (rule.isEmpty()) {
      if (path != null) {
        throw new Failure(
            "--engine-path is for llama-server, which " + policy.file() + " does not allow");
      }
      return policy;
    }
    Map<String, EngineRule> engines = new HashMap<>(policy.engines());
    Optional<Path> program =
        path != null
            ? Optional.of(NamedFile.program("--engine-path", path.toAbsolutePath().normalize()))
            : rule.get().path();
    engines.put(LLAMA_SERVER, new EngineRule(program, rule.get().install() || install));
    return policy.withEngines(engines);
  }

  /** What an agent on this home runs its workers with. */
  static LocalEngines of(Path home, Policy policy, Shell shell) {
    return new LocalEngines(home, policy, shell.variable("PATH").orElse(""));
  }

  private static String withKernels(String version) {
    String kernels =
        BuiltinProgram.ofThisProcess().flatMap(BuiltinProgram::kernels).orElse("unknown");
    return (version + " (kernels: " + kernels + ")").strip();
  }

  /** The engine of a model of which nothing else was said: one that is there, else our own. */
  static String usual(List<EngineFacts> found) {
    return found.stream().anyMatch(each -> each.engine().equals(LLAMA_SERVER))
        ? LLAMA_SERVER
        : EngineFlags.BUILTIN;
  }

  /**
   * The engines that this machine can start without installing anything; the built-in one with the
   * kernels that it would compute with.
   */
  public static List<EngineFacts> found(Path home, Shell shell) {
    try {
      return of(home, Policy.forUp(home), shell).engines().stream()
          .map(each ->
              each.engine().equals(EngineFlags.BUILTIN)
                  ? new EngineFacts(each.engine(), each.path(), withKernels(each.version()))
                  : each)
          .toList();
    } catch (PolicyRefused e) {
      throw new Failure(String.valueOf(e.getMessage()), e);
    }
  }
}
