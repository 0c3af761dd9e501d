package dev.flotilla.cli;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Options have several names, of which messages know one. Who reads a message looks for what they
 * typed: it is put in the place of the other names.
 */
final class TypedNames {
  private TypedNames() {}

  /**
   * The message with options named as they were typed.
   *
   * @param command whose options it is about
   * @param arguments as they were typed
   */
  static String in(String message, CommandLine command, List<String> arguments) {
    String said = message;
    for (OptionSpec option : command.getCommandSpec().options()) {
      List<String> names = List.of(option.names());
      List<String> typed = names.stream().filter(name -> typed(name, arguments)).toList();
      if (names.size() > 1 && typed.size() == 1) {
        for (String name : names) {
          said = named(name).matcher(said).replaceAll(Matcher.quoteReplacement(typed.getFirst()));
        }
      }
    }
    return said;
  }

  private static boolean typed(String name, List<String> arguments) {
    return arguments.stream()
        .anyMatch(argument -> argument.equals(name) || argument.startsWith(name + "="));
  }

  /** The name as a word of its own: it may be the beginning of another's. */
  private static Pattern named(String name) {
    return Pattern.compile("(?<![\\w-])" + Pattern.quote(name) + "(?![\\w-])");
  }
}
