package dev.flotilla.bench.launch;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The command line of an engine, with places for what differs between starts: {@code {model}},
 * {@code {port}}, {@code {slots}}, {@code {context}} (tokens of one request), {@code
 * {context-total}} (of all slots together) and {@code {threads}}. No shell reads it: words are
 * separated by spaces, quotes hold them together, and nothing else has a meaning.
 *
 * @param words program first, with the places unfilled
 */
public record CommandTemplate(List<String> words) {
  private static final int CHARACTERS_MAX = 16 << 10;
  private static final Pattern PLACE = Pattern.compile("\\{([a-z-]+)}");
  private static final Set<String> PLACES =
      Set.of("model", "port", "slots", "context", "context-total", "threads");

  public CommandTemplate {
    words = List.copyOf(words);
  }

  /** A command line that can't be meant; the message is one sentence. */
  public static final class Malformed extends Exception {
    private static final long serialVersionUID = 1L;

    Malformed(String message) {
      super(message);
    }
  }

  /**
   * Reads one.
   *
   * @throws Malformed where a quote is open, a place is unknown, or the port has no place
   */
  public static CommandTemplate parse(String text) throws Malformed {
    if (text.length() > CHARACTERS_MAX) {
      throw new Malformed("it is longer than " + CHARACTERS_MAX + " characters");
    }
    List<String> words = split(text);
    if (words.isEmpty()) {
      throw new Malformed("it is empty");
    }
    boolean port = false;
    for (String word : words) {
      Matcher place = PLACE.matcher(word);
      while (place.find()) {
        if (!PLACES.contains(place.group(1))) {
          throw new Malformed(
              place.group()
                  + " is none of its places: "
                  + "{model} {port} {slots} {context}"
                  + " {context-total} {threads}");
        }
        port |= place.group(1).equals("port");
      }
    }
    if (!port) {
      throw new Malformed("it has no {port}, so nobody would know where to ask");
    }
    return new CommandTemplate(words);
  }

  static List<String> split(String text) throws Malformed {
    List<String> words = new ArrayList<>();
    StringBuilder word = new StringBuilder();
    boolean begun = false;
    char quote = 0;
    for (int at = 0; at < text.length(); at++) {
      char c = text.charAt(at);
      if (quote != 0) {
        if (c == quote) {
          quote = 0;
        } else {
          word.append(c);
        }
      } else if (c == '"' || c == '\'') {
        quote = c;
        begun = true;
      } else if (Character.isWhitespace(c)) {
        if (begun) {
          words.add(word.toString());
        }
        word.setLength(0);
        begun = false;
      } else {
        word.append(c);
        begun = true;
      }
    }
    if (quote != 0) {
      throw new Malformed("a " + quote + " is never closed");
    }
    if (begun) {
      words.add(word.toString());
    }
    return words;
  }

  /** The command line of one start. */
  public List<String> fill(Setting setting, int port) {
    return words.stream().map(word -> fill(word, setting, port)).toList();
  }

  private static String fill(String word, Setting setting, int port) {
    return PLACE
        .matcher(word)
        .replaceAll(place -> Matcher.quoteReplacement(value(place.group(1), setting, port)));
  }

  private static String value(String place, Setting setting, int port) {
    return switch (place) {
      case "model" -> setting.model();
      case "port" -> String.valueOf(port);
      case "slots" -> String.valueOf(setting.slots());
      case "context" -> String.valueOf(setting.contextTokens());
      case "context-total" -> String.valueOf((long) setting.contextTokens() * setting.slots());
      case "threads" ->
          String.valueOf(setting.threads().orElse(Runtime.getRuntime().availableProcessors()));
      default -> throw new IllegalStateException("an unknown place was read: " + place);
    };
  }
}
