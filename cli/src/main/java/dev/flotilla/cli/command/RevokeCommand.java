package dev.flotilla.cli.command;

import dev.flotilla.cli.client.HubClient;
import dev.flotilla.cli.client.HubOptions;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Text;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;

/** Takes back what a hub gave out or offers, by the name that its listing shows. */
public abstract class RevokeCommand implements Callable<Integer> {
  private final String collection;
  private final Shell shell;

  @Mixin private final HubOptions hub = new HubOptions();

  /**
   * A command that takes back one of a kind.
   *
   * @param collection where the hub has them, such as {@code /api/keys}
   */
  protected RevokeCommand(String collection, Shell shell) {
    this.collection = collection;
    this.shell = shell;
  }

  /** Which one, as it was typed. */
  protected abstract String name();

  /** What is asked for beside it, from the question mark on; empty for nothing. */
  protected String query() {
    return "";
  }

  @Override
  public Integer call() {
    JsonNode answer =
        hub.client(shell).delete(collection + "/" + HubClient.encoded(name()) + query());
    shell.out().println(Text.printable(answer.path("message").asString("")));
    shell.out().flush();
    return 0;
  }
}
