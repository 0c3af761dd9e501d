package dev.flotilla.cli.command;

import dev.flotilla.cli.client.HubOptions;
import dev.flotilla.cli.output.Format;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Text;
import dev.flotilla.cli.output.WrongUsage;
import dev.flotilla.wire.text.Names;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code flotilla keys}: who may ask. */
@Command(
    name = "keys",
    description = "Makes and revokes the keys that clients ask with ('flotilla get keys' lists).",
    footer = {
      "%nA hub that starts with keys demands one of everybody; make an --admin key first.",
      "%nExamples:",
      "  flotilla keys create --admin me      may also configure the hub; printed once",
      "  flotilla keys create laptop-editor   may only ask models",
      "  flotilla keys revoke laptop-editor",
    })
public final class Keys extends CommandGroup {
  public Keys() {
    super("say create, list or revoke");
  }

  /** {@code flotilla keys create}. */
  @Command(
      name = "create",
      description =
          "Makes a key and prints it: the hub keeps only its hash. While no hub runs on the state"
              + " folder that is named, it is made there.",
      footer = {
        "%nExamples:",
        "  export FLOTILLA_KEY=$(flotilla keys create --admin me)",
        "  flotilla keys create --admin me --home ~/.flotilla   the first, before the hub runs",
      })
  public static final class Create implements Callable<Integer> {
    private final Shell shell;
    @Mixin private final HubOptions hub = new HubOptions();

    @Parameters(paramLabel = "NAME", description = "Who or what will ask with it.")
    private String name = "";

    @Option(names = "--admin", description = "It may also configure the hub.")
    private boolean admin;

    public Create(Shell shell) {
      this.shell = shell;
    }

    @Override
    public Integer call() {
      Names.keyProblem(name)
          .ifPresent(problem -> {
            throw new WrongUsage("NAME: " + problem);
          });
      Optional<Path> folder = hub.homeWithoutHub(shell);
      String key;
      boolean demanded = true;
      if (folder.isPresent()) {
        key = OfflineKeys.create(folder.get(), name, admin);
        shell
            .err()
            .println("(made in " + folder.get() + ", where no hub runs: for the next one there)");
      } else {
        JsonNode answer =
            hub.client(shell)
                .post(
                    "/api/keys",
                    JsonMapper.shared().createObjectNode().put("name", name).put("admin", admin));
        key = answer.path("key").asString("");
        demanded = answer.path("demanded").asBoolean();
      }
      shell.out().println(Text.printable(key));
      shell.out().flush();
      shell.err().println("(shown this once: the hub keeps only its hash)");
      if (!demanded) {
        shell
            .err()
            .println(
                admin
                    ? "(the hub demands keys from its next start on)"
                    : "(the hub demands keys from its next start on, and this one can't administer it:"
                        + " make one with --admin before)");
      }
      return 0;
    }
  }

  /** {@code flotilla keys revoke}. */
  @Command(
      name = "revoke",
      description = "Ends a key: whoever asks with it is refused from now on.",
      footer = {"%nExample:", "  flotilla keys revoke laptop-editor"})
  public static final class Revoke extends RevokeCommand {
    @Parameters(paramLabel = "NAME", description = "As 'flotilla get keys' shows it.")
    private String name = "";

    @Option(
        names = "--force",
        description = "Even the last admin key: nobody can configure the hub then.")
    private boolean force;

    public Revoke(Shell shell) {
      super("/api/keys", shell);
    }

    @Override
    protected String name() {
      return name;
    }

    @Override
    protected String query() {
      return force ? "?force=true" : "";
    }
  }

  /** {@code list}, of keys and of tokens: the same as {@code flotilla get}. */
  @Command(name = "list", description = "Lists them, as 'flotilla get' does.")
  public static final class ListAll implements Callable<Integer> {
    private final Listing listing;
    private final Shell shell;
    @Mixin private final HubOptions hub = new HubOptions();

    @Option(
        names = {"-o", "--output"},
        paramLabel = "FORMAT",
        converter = Format.Converter.class,
        description = "table, wide, json or yaml (default: table).")
    private Format format = Format.TABLE;

    public static ListAll ofKeys(Shell shell) {
      return new ListAll(Listing.KEYS, shell);
    }

    public static ListAll ofTokens(Shell shell) {
      return new ListAll(Listing.TOKENS, shell);
    }

    private ListAll(Listing listing, Shell shell) {
      this.listing = listing;
      this.shell = shell;
    }

    @Override
    public Integer call() {
      listing.print(hub.client(shell).get(listing.path()), format, shell);
      return 0;
    }
  }
}
