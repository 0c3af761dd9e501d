package dev.flotilla.cli.output;

import java.io.InputStream;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;

/**
 * What a command has around it: where it writes, what it reads, the environment, and whether people
 * look at it. Given to every command, so that tests see exactly what a user sees.
 *
 * @param in standard input
 * @param outIsTerminal whether {@code out} is read by a person
 * @param errIsTerminal whether {@code err} is read by a person
 * @param columns width of the terminal, 0 where unknown
 */
public record Shell(
    InputStream in,
    PrintWriter out,
    PrintWriter err,
    Map<String, String> environment,
    boolean outIsTerminal,
    boolean errIsTerminal,
    int columns) {

  private static final int COLUMNS_UNKNOWN = 100;

  public Shell {
    environment = Map.copyOf(environment);
  }

  /**
   * The process's own. The launcher says what is a terminal ({@code -Dflotilla.terminal=out,err},
   * {@code -Dflotilla.columns=N}); without it nothing is.
   */
  public static Shell ofProcess() {
    String terminal = System.getProperty("flotilla.terminal", "");
    return new Shell(
        System.in,
        new PrintWriter(System.out, true, StandardCharsets.UTF_8),
        new PrintWriter(System.err, true, StandardCharsets.UTF_8),
        System.getenv(),
        terminal.contains("out"),
        terminal.contains("err"),
        Integer.getInteger("flotilla.columns", 0));
  }

  /** A variable that is set and not empty. */
  public Optional<String> variable(String name) {
    return Optional.ofNullable(environment.get(name)).filter(value -> !value.isBlank());
  }

  /** What this machine is called by others, empty where nobody says. */
  public String machineName() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return variable("HOSTNAME").orElse("");
    }
  }

  /** How many characters fit into a line of {@code out}; no limit where nobody looks at it. */
  public int width() {
    if (!outIsTerminal) {
      return Integer.MAX_VALUE;
    }
    return columns > 0 ? columns : COLUMNS_UNKNOWN;
  }

  /** Whether {@code out} may carry colours (https://no-color.org). */
  public boolean colours() {
    return outIsTerminal && colourful();
  }

  /** Whether {@code err} may carry colours. */
  public boolean errColours() {
    return errIsTerminal && colourful();
  }

  private boolean colourful() {
    return variable("NO_COLOR").isEmpty() && !"dumb".equals(environment.get("TERM"));
  }
}
