package dev.flotilla.agent.engine;

import java.util.List;

/** How a recipe's options become words of a command line. */
final class CommandLine {
  private CommandLine() {}

  /** {@code true} or nothing is a bare option, {@code false} is none. */
  static void option(List<String> line, String flag, String value) {
    if (value.equals("false")) {
      return;
    }
    line.add(flag);
    if (!value.isEmpty() && !value.equals("true")) {
      line.add(value);
    }
  }
}
