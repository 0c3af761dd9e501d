package dev.flotilla.cli.command;

import dev.flotilla.cli.client.HubOptions;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Text;
import dev.flotilla.cli.output.WholeNumber;
import dev.flotilla.hub.keys.EnrolmentTokens;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code flotilla tokens}: which machines may join. */
@Command(
    name = "tokens",
    description = "Makes and revokes the tokens that a new machine joins with.",
    footer = {
      "%nAn agent needs a token once: it then has a credential of its own.",
      "%nExample:",
      "  flotilla tokens create                              on the hub's machine",
      "  flotilla agent --hub http://HUB:8484 --token TOKEN  on the new machine",
    })
public final class Tokens extends CommandGroup {
  public Tokens() {
    super("say create, list or revoke");
  }

  /** {@code flotilla tokens create}. */
  @Command(
      name = "create",
      description = "Makes an enrolment token and prints it.",
      footer = {
        "%nExamples:",
        "  flotilla tokens create                       for one machine, for a day",
        "  flotilla tokens create --uses 5 --hours 168  for five machines, for a week",
      })
  public static final class Create implements Callable<Integer> {
    private static final Set<String> LOOPBACK = Set.of("127.0.0.1", "localhost", "[::1]");

    private final Shell shell;
    @Mixin private final HubOptions hub = new HubOptions();

    @Option(
        names = "--uses",
        paramLabel = "N",
        converter = Uses.class,
        description = "How many machines may join with it (default: 1).")
    private int uses = 1;

    @Option(
        names = "--hours",
        paramLabel = "N",
        converter = Hours.class,
        description = "How long it may be used (default: 24).")
    private int hours = 24;

    public Create(Shell shell) {
      this.shell = shell;
    }

    @Override
    public Integer call() {
      JsonNode answer =
          hub.client(shell)
              .post(
                  "/api/tokens",
                  JsonMapper.shared().createObjectNode().put("uses", uses).put("hours", hours));
      shell.out().println(Text.printable(answer.path("token").asString("")));
      shell.out().flush();
      shell.err().println("(shown this once; " + use(hub.address(shell)) + ")");
      return 0;
    }

    /** How it is used. What this machine calls itself no other can call. */
    private String use(URI hubAddress) {
      String machine = shell.machineName();
      if (!LOOPBACK.contains(hubAddress.getHost()) || machine.isEmpty()) {
        return "on the new machine: flotilla agent --hub " + hubAddress + " --token …";
      }
      String called = hubAddress.toString().replace(hubAddress.getHost(), machine);
      return "on the new machine: flotilla agent --hub "
          + called
          + " --token …; a hub that listens on this machine alone is reached from here alone, at "
          + hubAddress;
    }
  }

  /** As a hub allows it. */
  static final class Uses extends WholeNumber {
    Uses() {
      super(1, EnrolmentTokens.USES_MAX);
    }
  }

  /** As a hub allows it. */
  static final class Hours extends WholeNumber {
    Hours() {
      super(1, (int) EnrolmentTokens.LIFE_MAX.toHours());
    }
  }

  /** {@code flotilla tokens revoke}. */
  @Command(
      name = "revoke",
      description = "Ends a token; machines that have joined with it stay.",
      footer = {"%nExample:", "  flotilla tokens revoke t3f9"})
  public static final class Revoke extends RevokeCommand {
    @Parameters(paramLabel = "ID", description = "As 'flotilla get tokens' shows it.")
    private String id = "";

    public Revoke(Shell shell) {
      super("/api/tokens", shell);
    }

    @Override
    protected String name() {
      return id;
    }
  }
}
