package dev.flotilla.wire.text;

import java.util.Optional;

/**
 * What nodes, models and workers may be called. A name ends up in a path of the file system, in a
 * line of a lane and in a header, so it is held to characters that mean nothing there.
 *
 * <p>Each check answers with the problem, one sentence for a person, or with nothing. The sentence
 * never repeats a hostile name whole.
 */
public final class Names {
  /** Characters of a node's or a model's name. */
  public static final int NAME_CHARS_MAX = 128;

  /** Characters of a worker's name: a node, a slash, a model, a dash and a number. */
  public static final int WORKER_CHARS_MAX = 2 * NAME_CHARS_MAX + 8;

  private Names() {}

  /** A node's name: letters, digits, {@code . _ -}. */
  public static Optional<String> nodeProblem(String name) {
    return problem("a node's name", name, "._-");
  }

  /** A model's public name: letters, digits, {@code . _ - : / @}, no empty part between slashes. */
  public static Optional<String> modelProblem(String name) {
    return problem("a model's name", name, "._-:/@");
  }

  /** A client key's name: letters, digits, {@code . _ -}. */
  public static Optional<String> keyProblem(String name) {
    return problem("a key's name", name, "._-");
  }

  /** A backend's or a route's name: letters, digits, {@code . _ -}. */
  public static Optional<String> entryProblem(String name) {
    return problem("a name", name, "._-");
  }

  /** A worker's name: {@code NODE/MODEL-N}, N from 1 to 99999. */
  public static Optional<String> workerProblem(String name) {
    int slash = name.indexOf('/');
    int dash = name.lastIndexOf('-');
    if (name.length() > WORKER_CHARS_MAX
        || slash < 0
        || dash < slash
        || !isNumber(name, dash + 1)) {
      return Optional.of("a worker's name is NODE/MODEL-N, not " + shown(name));
    }
    return nodeProblem(name.substring(0, slash))
        .or(() -> modelProblem(name.substring(slash + 1, dash)));
  }

  /** The name of a model's worker on a node; {@code number} counts from 1. */
  public static String worker(String node, String model, int number) {
    return node + "/" + model + "-" + number;
  }

  private static boolean isNumber(String name, int from) {
    int digits = name.length() - from;
    return digits >= 1
        && digits <= 5
        && name.charAt(from) != '0'
        && name.chars().skip(from).allMatch(c -> c >= '0' && c <= '9');
  }

  private static Optional<String> problem(String what, String name, String punctuation) {
    if (name.isEmpty()) {
      return Optional.of(what + " is empty");
    }
    if (name.length() > NAME_CHARS_MAX) {
      return Optional.of(
          what
              + " has "
              + name.length()
              + " characters; at most "
              + NAME_CHARS_MAX
              + " are allowed");
    }
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      boolean plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (!plain && (i == 0 || punctuation.indexOf(c) < 0)) {
        return Optional.of(
            what
                + " begins with a letter or digit and holds letters, digits and "
                + String.join(" ", punctuation.split(""))
                + " only; "
                + shown(name)
                + " has another character at position "
                + (i + 1));
      }
    }
    if (name.contains("..") || name.contains("//") || name.contains("/.") || name.endsWith("/")) {
      return Optional.of(
          what + " holds no \"..\" and no empty or hidden part between slashes: " + shown(name));
    }
    return Optional.empty();
  }

  /** The name in quotes for a message: control characters hidden, cut after 40 characters. */
  public static String shown(String name) {
    StringBuilder shown = new StringBuilder("\"");
    for (int i = 0; i < name.length() && i < 40; i++) {
      char c = name.charAt(i);
      shown.append(c < ' ' || c == '"' || c == '\\' || c >= 0x7f ? '?' : c);
    }
    return shown.append(name.length() > 40 ? "…\"" : "\"").toString();
  }
}
