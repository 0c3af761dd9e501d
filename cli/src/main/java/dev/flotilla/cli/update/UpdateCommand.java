package dev.flotilla.cli.update;

import dev.flotilla.cli.client.HubClient;
import dev.flotilla.cli.client.HubOptions;
import dev.flotilla.cli.command.CommandGroup;
import dev.flotilla.cli.command.RevokeCommand;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.NamedFile;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Text;
import dev.flotilla.wire.release.Release;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code flotilla update}: which version a fleet's agents are brought to. */
@Command(
    name = "update",
    description = "Offers a release to the fleet's agents, or takes it back.",
    footer = {
      "%nThe hub offers the newest release that it has to agents that are older, one node after the",
      "other. An agent takes it where its policy names the key that signed it.",
      "%nExamples:",
      "  flotilla update offer flotilla-0.1.0+412.g4cad8a3.zip",
      "  flotilla get releases        which are here, who runs what, who declined and why",
      "  flotilla update withdraw 0.1.0+412.g4cad8a3",
    })
public final class UpdateCommand extends CommandGroup {
  public UpdateCommand() {
    super("say offer or withdraw");
  }

  /** {@code flotilla update offer}. */
  @Command(
      name = "offer",
      description = "Sends a release to the hub, which offers it to older agents.",
      footer = {"%nExample:", "  flotilla update offer flotilla-0.1.0+412.g4cad8a3.zip"})
  public static final class Offer implements Callable<Integer> {
    private final Shell shell;
    @Mixin private final HubOptions hub = new HubOptions();

    @Parameters(
        paramLabel = "FILE",
        description = "As 'flotilla release' made it; its .json lies beside it.")
    private Path file = Path.of("");

    @Option(names = "--again", description = "Has it tried once more where it failed.")
    private boolean again;

    public Offer(Shell shell) {
      this.shell = shell;
    }

    @Override
    public Integer call() {
      ReleaseFile made;
      try {
        made = ReleaseFile.read(NamedFile.readable("FILE", file)).verified();
      } catch (IOException e) {
        throw new Failure(file + " can't be read: " + e.getMessage(), e);
      }
      Release release = made.release();
      JsonNode answer =
          hub.client(shell)
              .upload(
                  "/api/releases?version="
                      + HubClient.encoded(release.version())
                      + "&bytes="
                      + release.bytes()
                      + "&sha256="
                      + HubClient.encoded(release.sha256())
                      + "&signature="
                      + HubClient.encoded(release.signature())
                      + "&again="
                      + again,
                  "application/zip",
                  made.file());
      shell.out().println(Text.printable(answer.path("message").asString("")));
      shell.out().flush();
      return 0;
    }
  }

  /** {@code flotilla update withdraw}. */
  @Command(
      name = "withdraw",
      description = "Takes a release back; agents that run it keep it.",
      footer = {"%nExample:", "  flotilla update withdraw 0.1.0+412.g4cad8a3"})
  public static final class Withdraw extends RevokeCommand {
    @Parameters(paramLabel = "VERSION", description = "As 'flotilla get releases' shows it.")
    private String version = "";

    public Withdraw(Shell shell) {
      super("/api/releases", shell);
    }

    @Override
    protected String name() {
      return version;
    }
  }
}
