package dev.flotilla.cli.command;

import dev.flotilla.cli.client.HubOptions;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Text;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The life of a worker, by hand. */
public abstract sealed class LifeCommand implements Callable<Integer> {
  private final String verb;
  private final Shell shell;

  @Mixin private final HubOptions hub = new HubOptions();

  @Parameters(
      arity = "1..*",
      paramLabel = "NAME",
      description = "Worker or node, as 'flotilla get workers' and 'flotilla get nodes' show it.")
  private List<String> names = List.of();

  private LifeCommand(String verb, Shell shell) {
    this.verb = verb;
    this.shell = shell;
  }

  @Override
  public Integer call() {
    JsonMapper mapper = JsonMapper.shared();
    for (String name : names) {
      ObjectNode body = mapper.createObjectNode().put("name", name);
      addTo(body);
      JsonNode answer = hub.client(shell).post("/api/" + verb, body);
      shell.out().println(Text.printable(answer.path("message").asString(name)));
    }
    shell.out().flush();
    return 0;
  }

  /** What else is asked for. */
  void addTo(ObjectNode order) {}

  /** {@code flotilla drain}. */
  @Command(
      name = "drain",
      description = "A worker, or all of a node's: takes nothing new, finishes what runs.",
      footer = {"%nExample:", "  flotilla drain laptop   before the laptop is taken away"})
  public static final class Drain extends LifeCommand {
    public Drain(Shell shell) {
      super("drain", shell);
    }
  }

  /** {@code flotilla resume}. */
  @Command(
      name = "resume",
      description = "Takes a drained worker or node back into service.",
      footer = {"%nExample:", "  flotilla resume laptop"})
  public static final class Resume extends LifeCommand {
    public Resume(Shell shell) {
      super("resume", shell);
    }
  }

  /** {@code flotilla forget}. */
  @Command(
      name = "forget",
      description =
          "Forgets a node that is gone for good: its place in the fleet, its credential, its name.",
      footer = {"%nExample:", "  flotilla forget laptop   once its agent is stopped"})
  public static final class Forget extends LifeCommand {
    public Forget(Shell shell) {
      super("forget", shell);
    }
  }

  /** {@code flotilla prove}. */
  @Command(
      name = "prove",
      description =
          "Shows anew that a worker is what its model promises: its answers and its speed. One that serves finishes what runs first.",
      footer = {
        "%nWhat was found is in 'flotilla describe worker NAME'.",
        "%nExamples:",
        "  flotilla prove laptop/smollm2-135m-1",
        "  flotilla prove laptop/smollm2-135m-1 --as-reference   after its file was changed on purpose",
      })
  public static final class Prove extends LifeCommand {
    @Option(
        names = "--as-reference",
        description = "What it answers becomes what the model's workers are compared with.")
    private boolean asReference;

    public Prove(Shell shell) {
      super("prove", shell);
    }

    @Override
    void addTo(ObjectNode order) {
      order.put("asReference", asReference);
    }
  }

  /** {@code flotilla restart}. */
  @Command(
      name = "restart",
      description = "Stops a worker's engine, or all of a node's, and starts it again.",
      footer = {"%nExample:", "  flotilla restart laptop/smollm2-135m-1"})
  public static final class Restart extends LifeCommand {
    public Restart(Shell shell) {
      super("restart", shell);
    }
  }
}
