package dev.flotilla.bench.launch;

import java.net.URI;
import java.util.regex.Pattern;

/**
 * An engine as a person names it: {@code llama-server} (one that is known), {@code NAME=COMMAND
 * LINE} or {@code NAME=URL}.
 */
public sealed interface EngineChoice {

  /** What tables call it. */
  String name();

  /** One that is started as an agent starts it. */
  record Known(String name) implements EngineChoice {}

  /** One that is started by a command line. */
  record Command(String name, CommandTemplate template) implements EngineChoice {}

  /** One that runs already. */
  record Address(String name, URI url) implements EngineChoice {}

  /**
   * Reads it.
   *
   * @throws CommandTemplate.Malformed where it can't be meant; the message is one sentence
   */
  static EngineChoice parse(String text) throws CommandTemplate.Malformed {
    int equals = text.indexOf('=');
    String name = (equals < 0 ? text : text.substring(0, equals)).strip();
    if (!Names.NAME.matcher(name).matches()) {
      throw new CommandTemplate.Malformed(
          "it begins with no name; write llama-server, NAME=COMMAND LINE or NAME=URL");
    }
    if (equals < 0) {
      return new Known(name);
    }
    String rest = text.substring(equals + 1).strip();
    if (rest.startsWith("http://") || rest.startsWith("https://")) {
      try {
        URI url = URI.create(rest);
        if (url.getHost() != null && url.getRawQuery() == null && url.getRawUserInfo() == null) {
          return new Address(name, url);
        }
      } catch (IllegalArgumentException e) {
        // Said below, as for an address without a host.
      }
      throw new CommandTemplate.Malformed("that is no address of a server: " + rest);
    }
    return new Command(name, CommandTemplate.parse(rest));
  }

  /** What names may look like. */
  final class Names {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,39}");

    private Names() {}
  }
}
