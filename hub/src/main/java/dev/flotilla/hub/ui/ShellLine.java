package dev.flotilla.hub.ui;

import java.util.regex.Pattern;

/** Arguments as a POSIX shell reads them: a line of them is read as the same array again. */
final class ShellLine {
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_@%+=:,./-]+");

  private ShellLine() {}

  /** Inside single quotes a shell reads everything as it stands but the single quote itself. */
  static String quote(String argument) {
    return PLAIN.matcher(argument).matches()
        ? argument
        : "'" + argument.replace("'", "'\\''") + "'";
  }
}
