package dev.flotilla.cli.output;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** How values are written for people. */
public final class Text {
  private static final String SAFE_IN_A_SHELL =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";

  private Text() {}

  /** A command line as it can be pasted into a shell. */
  public static String commandLine(List<String> arguments) {
    return arguments.stream().map(Text::quoted).collect(Collectors.joining(" "));
  }

  private static String quoted(String argument) {
    boolean safe =
        !argument.isEmpty()
            && argument.chars().allMatch(character -> SAFE_IN_A_SHELL.indexOf(character) >= 0);
    return safe ? argument : '\'' + argument.replace("'", "'\\''") + '\'';
  }

  /**
   * The text without characters that steer a terminal: names come from files and other machines,
   * and must not move the cursor or change colours here.
   */
  public static String printable(String text) {
    StringBuilder clean = new StringBuilder(text.length());
    text.codePoints()
        .forEach(point -> {
          boolean steers =
              Character.isISOControl(point)
                  || Character.getType(point) == Character.FORMAT
                  || Character.getType(point) == Character.LINE_SEPARATOR
                  || Character.getType(point) == Character.PARAGRAPH_SEPARATOR;
          clean.appendCodePoint(steers ? ' ' : point);
        });
    return clean.toString();
  }

  /** Bytes in the unit that reads best, such as {@code 93.5 MiB}. */
  public static String bytes(long bytes) {
    if (bytes < 1024) {
      return bytes + " B";
    }
    double value = bytes;
    String[] units = {"KiB", "MiB", "GiB", "TiB"};
    int unit = -1;
    while (value >= 1024 && unit < units.length - 1) {
      value /= 1024;
      unit++;
    }
    return String.format(Locale.ROOT, value < 10 ? "%.1f %s" : "%.0f %s", value, units[unit]);
  }
}
