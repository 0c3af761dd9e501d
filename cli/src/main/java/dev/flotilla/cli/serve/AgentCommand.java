package dev.flotilla.cli.serve;

import dev.flotilla.agent.Agent;
import dev.flotilla.agent.AgentConfig;
import dev.flotilla.agent.AgentRefused;
import dev.flotilla.agent.lanes.AgentEnd;
import dev.flotilla.agent.lanes.AgentIdentity;
import dev.flotilla.agent.lanes.AgentLaneLimits;
import dev.flotilla.agent.lanes.HubAddress;
import dev.flotilla.agent.lanes.HubCheck;
import dev.flotilla.agent.policy.Policy;
import dev.flotilla.agent.update.UpdateRules;
import dev.flotilla.cli.Version;
import dev.flotilla.cli.client.PrivateAuthority;
import dev.flotilla.cli.home.HomeLock;
import dev.flotilla.cli.home.HomeOptions;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.NamedFile;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.WrongUsage;
import dev.flotilla.wire.text.Names;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code flotilla agent}: this machine, for a hub that runs elsewhere. */
@Command(
    name = "agent",
    description = "Lends this machine to a hub: dials it, starts engines, relays requests.",
    footer = {
      "%nToken and name are needed once; later starts use the credential that the hub gave for them.",
      "What the hub may have started here is in HOME/agent/policy.yaml, which it can't change.",
      "%nExamples:",
      "  flotilla agent --hub http://10.0.0.5:8484 --token ft-…",
      "  FLOTILLA_TOKEN=ft-… flotilla agent --hub https://hub.lan:8484 --ca ca.pem --name laptop",
      "  flotilla agent --hub http://10.0.0.5:8484   once it has joined",
    })
public final class AgentCommand implements Callable<Integer> {
  private static final Duration LOOK_EVERY = Duration.ofMillis(200);

  private final Shell shell;
  @Mixin private final HomeOptions home = new HomeOptions();

  @Option(names = "--hub", paramLabel = "URL", description = "The hub (else FLOTILLA_HUB).")
  private @Nullable String hub;

  @Option(
      names = "--token",
      paramLabel = "T",
      description =
          "Enrolment token from 'flotilla tokens create' (else FLOTILLA_TOKEN, which other users of"
              + " this machine can't see).")
  private @Nullable String token;

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description =
          "This node's name in the fleet (default: the one that it joined under, else the machine's).")
  private @Nullable String name;

  @Option(
      names = "--ca",
      paramLabel = "FILE",
      description = "Certificate (PEM) of the authority that the hub's certificate is checked by.")
  private @Nullable Path ca;

  @Option(
      names = "--engine-path",
      paramLabel = "FILE",
      description = "The llama-server to start (default: the policy's, the PATH's).")
  private @Nullable Path enginePath;

  @Option(
      names = "--install-engine",
      description = "Lets the agent install llama-server into its home where there is none.")
  private boolean installEngine;

  public AgentCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() throws InterruptedException {
    Path folder = home.home(shell);
    HubAddress address = hubAddress();
    if (name != null) {
      Names.nodeProblem(name)
          .ifPresent(problem -> {
            throw new WrongUsage("--name: " + problem);
          });
    }
    Optional<Path> authority =
        Optional.ofNullable(ca).map(file -> NamedFile.readable("--ca", file));
    authority.ifPresent(PrivateAuthority::trusting);
    Optional<String> enrolment =
        Optional.ofNullable(token).or(() -> shell.variable("FLOTILLA_TOKEN"));
    if (enrolment.isEmpty() && !AgentIdentity.isEnrolled(folder)) {
      throw new Failure(AgentEnd.NOT_ENROLLED.reason());
    }
    Policy policy = Engines.policy(Policy::forAgent, folder, enginePath, installEngine);
    if (!AgentIdentity.isEnrolled(folder)) {
      HubCheck.noHub(address, authority, AgentLaneLimits.DEFAULT)
          .ifPresent(end -> {
            throw new Failure(end.reason());
          });
    }
    StopSignal signal = StopSignal.listen();
    try {
      HomeLock.makeHome(folder);
      Path log = Logs.start(folder, "agent", home.verbose());
      Optional<Launcher> launcher = Launcher.of(shell);
      AgentConfig config =
          AgentConfig.of(address, folder, Version.number())
              .withToken(enrolment)
              .withNode(Optional.ofNullable(name))
              .withAuthorities(authority)
              .withUpdates(
                  new UpdateRules(policy.file(), policy.updateKeys(), launcher.isPresent()));
      try (Agent agent =
          Agent.start(
              config, Engines.of(folder, policy, shell), new AgentNews(shell, System::nanoTime))) {
        shell
            .err()
            .println(
                "Agent '"
                    + agent.node()
                    + "' for the hub at "
                    + address
                    + "  (log in "
                    + log
                    + ")");
        shell.err().flush();
        while (!signal.await(LOOK_EVERY)) {
          if (agent.ended().isDone()) {
            AgentEnd end = agent.ended().join();
            if (!end.isReplacement()) {
              throw new Failure(end.reason());
            }
            say(end.reason());
            return Launcher.REPLACE;
          }
          if (launcher.isPresent() && !launcher.get().isThere()) {
            throw new Failure(
                "the launcher (process " + launcher.get().pid() + ") is gone, so this agent ends");
          }
        }
        say("stopping …");
      }
    } catch (AgentRefused e) {
      throw new Failure(String.valueOf(e.getMessage()), e);
    } finally {
      Logs.stop();
      signal.ended();
    }
    return 0;
  }

  private void say(String line) {
    shell.err().println(line);
    shell.err().flush();
  }

  private HubAddress hubAddress() {
    String text = hub != null ? hub : shell.variable("FLOTILLA_HUB").orElse("");
    if (text.isEmpty()) {
      throw new WrongUsage("say which hub: --hub URL, or FLOTILLA_HUB");
    }
    try {
      return HubAddress.parse(text.contains("://") ? text : "http://" + text);
    } catch (IllegalArgumentException e) {
      throw new WrongUsage(
          (hub != null ? "--hub" : "FLOTILLA_HUB") + " '" + text + "': " + e.getMessage(), e);
    }
  }
}
