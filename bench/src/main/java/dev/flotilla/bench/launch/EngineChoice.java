package dev.flotilla.bench.launch;

import java.net.URI;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * An engine as a person names it:
 *
 * <ul>
 *   <li>{@code builtin} or {@code llama-server}, which are known, or {@code NAME=llama-server
 *       --option value …}, the same with options of its own;
 *   <li>{@code NAME=COMMAND LINE}, any server, with a place for its {@code {port}};
 *   <li>{@code NAME=URL}, one that runs already.
 * </ul>
 */
public sealed interface EngineChoice {
  /** Engines that are started without being told how. */
  List<String> KNOWN = List.of("builtin", "llama-server");

  /** What tables call it. */
  String name();

  /**
   * One that is started as an agent starts it.
   *
   * @param options beside what a setting says, without dashes, in their order; a bare option has an
   *     empty value
   */
  record Known(String name, String engine, Map<String, String> options) implements EngineChoice {
    public Known {
      options = Collections.unmodifiableMap(new LinkedHashMap<>(options));
    }
  }

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
    if (!Reading.NAME.matcher(name).matches()) {
      throw new CommandTemplate.Malformed(
          "it begins with no name; write builtin, llama-server, NAME=COMMAND LINE or NAME=URL");
    }
    if (equals < 0) {
      if (!KNOWN.contains(name)) {
        throw new CommandTemplate.Malformed(
            "%s is none that is known (%s); say how it is started: %s='COMMAND LINE with {port}'"
                .formatted(name, String.join(", ", KNOWN), name));
      }
      return new Known(name, name, Map.of());
    }
    String rest = text.substring(equals + 1).strip();
    if (rest.startsWith("http://") || rest.startsWith("https://")) {
      return new Address(name, Reading.address(rest));
    }
    List<String> words = CommandTemplate.split(rest);
    if (!words.isEmpty() && KNOWN.contains(words.getFirst()) && !rest.contains("{port}")) {
      return new Known(name, words.getFirst(), Reading.options(words.subList(1, words.size())));
    }
    return new Command(name, CommandTemplate.parse(rest));
  }

  /** The reading of the parts. */
  final class Reading {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,39}");

    private Reading() {}

    private static URI address(String text) throws CommandTemplate.Malformed {
      try {
        URI url = URI.create(text);
        if (url.getHost() != null && url.getRawQuery() == null && url.getRawUserInfo() == null) {
          return url;
        }
      } catch (IllegalArgumentException e) {
        // Said below, as for an address without a host.
      }
      throw new CommandTemplate.Malformed("that is no address of a server: " + text);
    }

    private static Map<String, String> options(List<String> words)
        throws CommandTemplate.Malformed {
      Map<String, String> options = new LinkedHashMap<>();
      for (int at = 0; at < words.size(); at++) {
        String option = words.get(at).replaceFirst("^--?", "");
        if (option.isEmpty() || option.equals(words.get(at))) {
          throw new CommandTemplate.Malformed("'" + words.get(at) + "' is no option");
        }
        boolean valued = at + 1 < words.size() && !words.get(at + 1).matches("--?[A-Za-z].*");
        options.put(option, valued ? words.get(++at) : "");
      }
      return options;
    }
  }
}
