package dev.flotilla.agent.engine;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Why a llama-server ended, from its exit code and its last lines. The code alone says little: bad
 * options, a bad model and a taken port are all 1.
 */
final class ExitReason {
  private static final Pattern BIND = Pattern.compile("couldn't bind .*port: (\\d+)");
  private static final Pattern ARCHITECTURE =
      Pattern.compile("unknown model architecture: '([^']*)'");
  private static final Pattern OPTION =
      Pattern.compile("error: (?:invalid argument: .*|while handling argument .*)");
  private static final Pattern MEMORY =
      Pattern.compile(
          "(?i)out of memory|failed to allocate|cudaMalloc failed|unable to allocate|cannot allocate");
  private static final Pattern LOAD =
      Pattern.compile(
          "(?i)(?:failed to load model|error loading model|exiting due to model loading).*");
  private static final Pattern PREFIX = Pattern.compile("^\\d+\\.\\d+\\.\\d+\\.\\d+ \\w ");
  private static final int QUOTED_CHARS_MAX = 300;

  private ExitReason() {}

  static String explain(int exitCode, List<String> lines) {
    String how = how(exitCode);
    for (String line : lines.reversed()) {
      Matcher bind = BIND.matcher(line);
      if (bind.find()) {
        return "Its port %s is taken by another program (%s).".formatted(bind.group(1), how);
      }
      Matcher architecture = ARCHITECTURE.matcher(line);
      if (architecture.find()) {
        return "This llama-server does not know the model's architecture '%s'; a newer one may (%s)."
            .formatted(quoted(architecture.group(1)), how);
      }
      Matcher option = OPTION.matcher(line);
      if (option.find()) {
        return "It does not take one of its options: %s (%s)."
            .formatted(quoted(option.group()), how);
      }
      if (MEMORY.matcher(line).find()) {
        return "It ran out of memory: %s (%s).".formatted(quoted(line), how);
      }
    }
    for (String line : lines) {
      if (LOAD.matcher(line).find()) {
        return "It could not load the model: %s (%s).".formatted(quoted(line), how);
      }
    }
    String last =
        lines.isEmpty() ? "it said nothing" : "its last line was: " + quoted(lines.getLast());
    return "It %s; %s.".formatted(how, last);
  }

  /** A code above 128 is a signal's number plus 128. */
  private static String how(int exitCode) {
    return switch (exitCode) {
      case 137 -> "was killed by SIGKILL, by hand or by the system for want of memory";
      case 143 -> "was ended by SIGTERM";
      case 139 -> "crashed with SIGSEGV";
      case 134 -> "gave up with SIGABRT";
      case 132 -> "crashed with SIGILL: it was built for another processor";
      default ->
          exitCode > 128 && exitCode < 160
              ? "was ended by signal " + (exitCode - 128)
              : "ended with exit code " + exitCode;
    };
  }

  private static String quoted(String line) {
    String text = PREFIX.matcher(line).replaceFirst("").strip().replaceAll("\\p{Cntrl}", "?");
    return text.length() <= QUOTED_CHARS_MAX ? text : text.substring(0, QUOTED_CHARS_MAX) + "…";
  }
}
