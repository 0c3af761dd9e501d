package dev.flotilla.gguf.python;

import dev.flotilla.gguf.python.Arguments.Bound;
import dev.flotilla.gguf.python.Callable.Function;
import dev.flotilla.gguf.sandbox.Budget;
import dev.flotilla.gguf.sandbox.Failure;
import java.util.List;
import java.util.Locale;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** The methods of Python's {@code str}. */
public final class TextMethods {
  private TextMethods() {}

  /** The method of that name; null where there is none. */
  public static @Nullable Callable of(String text, String name) {
    return switch (name) {
      case "strip", "lstrip", "rstrip" ->
          method(
              text,
              name,
              (budget, arguments) -> {
                Object set = arguments.bind(name, "chars").or(0, None.NONE);
                return stripped(text, set, !name.equals("rstrip"), !name.equals("lstrip"));
              });
      case "split", "rsplit" ->
          method(
              text,
              name,
              (budget, arguments) -> {
                Bound bound = arguments.bind(name, "sep", "maxsplit");
                boolean blank = bound.or(0, None.NONE) instanceof None;
                long max = bound.whole(1, -1);
                List<Object> parts =
                    Split.parts(text, blank ? null : bound.text(0), max, name.equals("rsplit"));
                budget.madeElements(parts.size());
                return parts;
              });
      case "splitlines" ->
          method(
              text,
              name,
              (budget, arguments) -> {
                List<Object> lines =
                    Split.lines(text, arguments.bind(name, "keepends").truth(0, false));
                budget.madeElements(lines.size());
                return lines;
              });
      case "partition", "rpartition" ->
          method(
              text,
              name,
              (_, arguments) ->
                  Split.partition(
                      text, arguments.bind(name, "sep").text(0), name.equals("rpartition")));
      default -> searchMethod(text, name);
    };
  }

  private static @Nullable Callable searchMethod(String text, String name) {
    return switch (name) {
      case "startswith", "endswith" ->
          method(text, name, (budget, arguments) -> affix(text, name, arguments, budget));
      case "replace" ->
          method(
              text,
              name,
              (budget, arguments) -> {
                Bound bound = arguments.bind(name, "old", "new", "count");
                return replaced(text, bound.text(0), bound.text(1), bound.whole(2, -1), budget);
              });
      case "find", "index", "rfind", "rindex" ->
          method(text, name, (budget, arguments) -> found(text, name, arguments, budget));
      case "count" ->
          method(text, name, (_, arguments) -> count(text, arguments.bind(name, "sub").text(0)));
      default -> makingMethod(text, name);
    };
  }

  private static @Nullable Callable makingMethod(String text, String name) {
    return switch (name) {
      case "join" ->
          method(
              text,
              name,
              (budget, arguments) ->
                  joined(text, arguments.bind(name, "iterable").required(0), budget));
      case "format" ->
          method(text, name, (budget, arguments) -> BraceFormat.format(text, arguments, budget));
      case "removeprefix" ->
          method(
              text,
              name,
              (_, arguments) -> {
                String prefix = arguments.bind(name, "prefix").text(0);
                return text.startsWith(prefix) ? text.substring(prefix.length()) : text;
              });
      case "removesuffix" ->
          method(
              text,
              name,
              (_, arguments) -> {
                String suffix = arguments.bind(name, "suffix").text(0);
                return text.endsWith(suffix)
                    ? text.substring(0, text.length() - suffix.length())
                    : text;
              });
      case "center", "ljust", "rjust", "zfill" ->
          method(text, name, (budget, arguments) -> padded(text, name, arguments, budget));
      default -> caseMethod(text, name);
    };
  }

  /** A method by what it does: its text is counted as read, and its result as made. */
  private static Callable method(String text, String name, Callable.Body body) {
    return new Function(
        name,
        (budget, arguments) -> {
          budget.scan(text.length());
          Object result = body.call(budget, arguments);
          if (result instanceof String made) {
            budget.made(made.length());
          }
          return result;
        });
  }

  private static @Nullable Callable caseMethod(String text, String name) {
    return switch (name) {
      case "upper" -> plain(text, name, text.toUpperCase(Locale.ROOT));
      case "lower", "casefold" -> plain(text, name, text.toLowerCase(Locale.ROOT));
      case "capitalize" -> method(text, name, (_, _) -> capitalized(text));
      case "title" -> method(text, name, (_, _) -> titled(text));
      case "swapcase" -> method(text, name, (_, _) -> swapped(text));
      case "isdigit", "isdecimal", "isnumeric" -> all(text, name, Character::isDigit);
      case "isalpha" -> all(text, name, Character::isLetter);
      case "isalnum" -> all(text, name, Character::isLetterOrDigit);
      case "isspace" -> all(text, name, Blanks::isBlank);
      case "isascii" -> method(text, name, (_, _) -> text.chars().allMatch(c -> c < 128));
      case "isupper" ->
          method(text, name, (_, _) -> cased(text, Character::isUpperCase, Character::isLowerCase));
      case "islower" ->
          method(text, name, (_, _) -> cased(text, Character::isLowerCase, Character::isUpperCase));
      default -> null;
    };
  }

  private static Callable plain(String text, String name, String result) {
    return method(
        text,
        name,
        (_, arguments) -> {
          arguments.bind(name);
          return result;
        });
  }

  private static Callable all(String text, String name, IntPredicate kind) {
    return method(text, name, (_, _) -> !text.isEmpty() && text.codePoints().allMatch(kind));
  }

  private static boolean cased(String text, IntPredicate wanted, IntPredicate unwanted) {
    return text.codePoints().anyMatch(wanted) && text.codePoints().noneMatch(unwanted);
  }

  /** Without the characters of a set, {@code None} for white space, at its ends. */
  public static String stripped(String text, Object set, boolean start, boolean end) {
    if (set instanceof None || set instanceof Undefined) {
      String rest = start ? Blanks.stripStart(text) : text;
      return end ? Blanks.stripEnd(rest) : rest;
    }
    if (!(Markup.plain(set) instanceof String characters)) {
      throw Failure.failed("strip arg must be None or str, not %s", Kinds.name(set));
    }
    int from = 0;
    int to = text.length();
    while (start && from < to && characters.indexOf(text.codePointAt(from)) >= 0) {
      from += Character.charCount(text.codePointAt(from));
    }
    while (end && to > from && characters.indexOf(text.codePointBefore(to)) >= 0) {
      to -= Character.charCount(text.codePointBefore(to));
    }
    return text.substring(from, to);
  }

  private static Object affix(String text, String name, Arguments arguments, Budget budget) {
    Bound bound = arguments.bind(name, "prefix", "start", "end");
    String part = within(text, bound, 1, budget);
    List<Object> wanted =
        bound.required(0) instanceof Tuple several ? several.items() : List.of(bound.text(0));
    for (Object each : wanted) {
      if (!(Markup.plain(each) instanceof String affix)) {
        throw Failure.failed("%s needs str, not %s", name, Kinds.name(each));
      }
      if (name.equals("startswith") ? part.startsWith(affix) : part.endsWith(affix)) {
        return true;
      }
    }
    return false;
  }

  private static String within(String text, Bound bound, int index, Budget budget) {
    if (!bound.has(index) && !bound.has(index + 1)) {
      return text;
    }
    Object start = bound.or(index, None.NONE);
    Object end = bound.or(index + 1, None.NONE);
    return (String) Slices.of(text, start, end, None.NONE, budget);
  }

  /**
   * {@code str.replace}.
   *
   * @param count occurrences at most, from the left; negative for all
   */
  public static String replaced(String text, String old, String with, long count, Budget budget) {
    budget.scan(text.length());
    if (old.isEmpty()) {
      return spread(text, with, count, budget);
    }
    StringBuilder result = new StringBuilder();
    int from = 0;
    long left = count < 0 ? Long.MAX_VALUE : count;
    for (int at = text.indexOf(old); at >= 0 && left > 0; at = text.indexOf(old, from)) {
      budget.made(with.length());
      result.append(text, from, at).append(with);
      from = at + old.length();
      left--;
    }
    return from == 0 ? text : result.append(text, from, text.length()).toString();
  }

  /** A text with another before each of its characters and at its end. */
  private static String spread(String text, String with, long count, Budget budget) {
    StringBuilder result = new StringBuilder();
    long left = count < 0 ? Long.MAX_VALUE : count;
    for (int at = 0; at <= text.length(); ) {
      if (left-- > 0) {
        budget.made(with.length());
        result.append(with);
      }
      if (at == text.length()) {
        break;
      }
      int point = text.codePointAt(at);
      result.appendCodePoint(point);
      at += Character.charCount(point);
    }
    return result.toString();
  }

  private static Object found(String text, String name, Arguments arguments, Budget budget) {
    Bound bound = arguments.bind(name, "sub", "start", "end");
    String wanted = bound.text(0);
    String part = within(text, bound, 1, budget);
    int at = name.startsWith("r") ? part.lastIndexOf(wanted) : part.indexOf(wanted);
    if (at < 0) {
      if (name.endsWith("index")) {
        throw Failure.failed("substring not found");
      }
      return -1L;
    }
    long start = bound.whole(1, 0);
    long length = start < 0 ? Kinds.length(text, budget) : 0;
    return part.codePointCount(0, at) + (start < 0 ? Math.max(0, start + length) : start);
  }

  private static Object count(String text, String wanted) {
    if (wanted.isEmpty()) {
      return text.codePointCount(0, text.length()) + 1L;
    }
    long count = 0;
    for (int at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length())) {
      count++;
    }
    return count;
  }

  private static String joined(String separator, Object items, Budget budget) {
    StringBuilder result = new StringBuilder();
    boolean first = true;
    for (Object item : Kinds.elements(items, budget)) {
      if (!(Markup.plain(item) instanceof String part)) {
        throw Failure.failed("join needs str elements, found %s", Kinds.name(item));
      }
      budget.made(part.length() + (long) separator.length());
      result.append(first ? "" : separator).append(part);
      first = false;
    }
    return result.toString();
  }

  private static Object padded(String text, String name, Arguments arguments, Budget budget) {
    Bound bound = arguments.bind(name, "width", "fillchar");
    long width = bound.whole(0, 0);
    long missing = width - Kinds.length(text, budget);
    if (missing <= 0) {
      return text;
    }
    budget.made(missing);
    if (name.equals("zfill")) {
      boolean signed = text.startsWith("-") || text.startsWith("+");
      String zeros = "0".repeat((int) missing);
      return signed ? text.charAt(0) + zeros + text.substring(1) : zeros + text;
    }
    String fill = bound.text(1, " ");
    if (fill.codePointCount(0, fill.length()) != 1) {
      throw Failure.failed("the fill character must be exactly one character long");
    }
    int left =
        switch (name) {
          case "ljust" -> 0;
          case "rjust" -> (int) missing;
          default -> (int) (missing / 2 + (missing & width & 1));
        };
    return fill.repeat(left) + text + fill.repeat((int) missing - left);
  }

  /** {@code str.capitalize}: the first letter large, all else small. */
  public static String capitalized(String text) {
    if (text.isEmpty()) {
      return text;
    }
    int end = text.offsetByCodePoints(0, 1);
    return Character.toString(Character.toTitleCase(text.codePointAt(0)))
        + text.substring(end).toLowerCase(Locale.ROOT);
  }

  private static String titled(String text) {
    StringBuilder result = new StringBuilder(text.length());
    boolean within = false;
    for (int at = 0; at < text.length(); ) {
      int point = text.codePointAt(at);
      at += Character.charCount(point);
      result.appendCodePoint(within ? Character.toLowerCase(point) : Character.toTitleCase(point));
      within =
          Character.isUpperCase(point)
              || Character.isLowerCase(point)
              || Character.isTitleCase(point);
    }
    return result.toString();
  }

  private static String swapped(String text) {
    StringBuilder result = new StringBuilder(text.length());
    text.codePoints()
        .forEach(point ->
            result.appendCodePoint(
                Character.isUpperCase(point)
                    ? Character.toLowerCase(point)
                    : Character.toUpperCase(point)));
    return result.toString();
  }
}
