package dev.flotilla.gguf.python;

import dev.flotilla.gguf.sandbox.Budget;
import dev.flotilla.gguf.sandbox.Failure;
import java.util.List;

/** Python's {@code str.format}: fields in braces, with attributes, elements and specifications. */
final class BraceFormat {
  private final String format;
  private final Arguments arguments;
  private final Budget budget;
  private int automatic;

  private BraceFormat(String format, Arguments arguments, Budget budget) {
    this.format = format;
    this.arguments = arguments;
    this.budget = budget;
  }

  static String format(String format, Arguments arguments, Budget budget) {
    return new BraceFormat(format, arguments, budget).all();
  }

  private String all() {
    StringBuilder out = new StringBuilder();
    for (int at = 0; at < format.length(); ) {
      char c = format.charAt(at);
      if (c != '{' && c != '}') {
        out.append(c);
        at++;
      } else if (at + 1 < format.length() && format.charAt(at + 1) == c) {
        out.append(c);
        at += 2;
      } else {
        int end = c == '{' ? format.indexOf('}', at) : -1;
        if (end < 0) {
          throw Failure.failed("single '%s' encountered in format string", c);
        }
        String written = field(format.substring(at + 1, end));
        budget.made(written.length());
        out.append(written);
        at = end + 1;
      }
    }
    return out.toString();
  }

  private String field(String field) {
    int colon = field.indexOf(':');
    String name = colon < 0 ? field : field.substring(0, colon);
    String spec = colon < 0 ? "" : field.substring(colon + 1);
    if (spec.indexOf('{') >= 0) {
      throw Failure.failed("fields within a format specification are not known here");
    }
    char conversion = ' ';
    int mark = name.indexOf('!');
    if (mark >= 0) {
      conversion = mark + 2 == name.length() ? name.charAt(mark + 1) : '?';
      name = name.substring(0, mark);
    }
    Object value = value(name);
    value =
        switch (conversion) {
          case ' ' -> value;
          case 's' -> Written.text(value, budget);
          case 'r' -> Written.repr(value, budget);
          default -> throw Failure.failed("unknown conversion in format string");
        };
    return spec.isEmpty()
        ? Written.text(value, budget)
        : FormatSpec.parse(spec).format(value, budget);
  }

  private Object value(String name) {
    int end = 0;
    while (end < name.length() && name.charAt(end) != '.' && name.charAt(end) != '[') {
      end++;
    }
    Object value = start(name.substring(0, end));
    while (end < name.length()) {
      if (name.charAt(end) == '.') {
        int next = end + 1;
        while (next < name.length() && name.charAt(next) != '.' && name.charAt(next) != '[') {
          next++;
        }
        value = Attributes.get(value, name.substring(end + 1, next));
        end = next;
      } else {
        int close = name.indexOf(']', end);
        if (close < 0) {
          throw Failure.failed("expected ']' in format string");
        }
        String key = name.substring(end + 1, close);
        value = Attributes.item(value, isNumber(key) ? (Object) Long.valueOf(key) : key, budget);
        end = close + 1;
      }
      if (value instanceof Undefined missing) {
        throw missing.failure();
      }
    }
    return value;
  }

  private Object start(String name) {
    List<Object> positional = arguments.positional();
    if (name.isEmpty() || isNumber(name)) {
      int index = name.isEmpty() ? automatic++ : Integer.parseInt(name);
      if (index >= positional.size()) {
        throw Failure.failed("the format's field %d has no argument", index);
      }
      return positional.get(index);
    }
    Object value = arguments.named().get(name);
    if (value == null) {
      throw Failure.failed("the format's field '%s' has no argument", name);
    }
    return value;
  }

  private static boolean isNumber(String text) {
    return !text.isEmpty() && text.length() < 9 && text.chars().allMatch(c -> c >= '0' && c <= '9');
  }
}
