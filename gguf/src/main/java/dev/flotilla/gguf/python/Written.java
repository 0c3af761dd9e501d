package dev.flotilla.gguf.python;

import dev.flotilla.gguf.sandbox.Budget;
import java.util.List;
import java.util.Map;

/** Values as Python writes them: {@code str()}, {@code repr()}. */
public final class Written {
  private final StringBuilder out = new StringBuilder();
  private final Budget budget;

  private Written(Budget budget) {
    this.budget = budget;
  }

  /** Python's {@code str()}: what is printed. */
  public static String text(Object value, Budget budget) {
    if (value instanceof String text) {
      return text;
    }
    return switch (value) {
      case Markup markup -> markup.text();
      case Undefined _ -> "";
      default -> repr(value, budget);
    };
  }

  /** Python's {@code repr()}: texts within quotes. */
  static String repr(Object value, Budget budget) {
    Written written = new Written(budget);
    written.value(value, 0);
    return written.out.toString();
  }

  private void value(Object value, int level) {
    int before = out.length();
    switch (value) {
      case String text -> quoted(text);
      case Markup markup -> {
        out.append("Markup(");
        quoted(markup.text());
        out.append(')');
      }
      case Boolean truth -> out.append(truth ? "True" : "False");
      case Double number -> out.append(Numbers.written(number));
      case None _ -> out.append("None");
      case Undefined _ -> out.append("Undefined");
      case List<?> list -> list(list, "[", "]", level);
      case Tuple tuple -> list(tuple.items(), "(", tuple.items().size() == 1 ? ",)" : ")", level);
      case View view -> list(view.items(), view.kind() + "([", "])", level);
      case Map<?, ?> map -> map(map, level);
      case Namespace space -> {
        out.append("<Namespace ");
        map(space.attributes(), level);
        out.append('>');
      }
      case Lazy _ -> out.append("<generator object>");
      case Loop loop -> out.append(loop.written());
      case Callable callable -> out.append("<function ").append(callable.name()).append('>');
      default -> out.append(value); // whole numbers
    }
    if (level == 0 || out.length() - before < 64) {
      budget.made(out.length() - before);
    }
  }

  private void list(List<?> items, String open, String close, int level) {
    int deeper = Budget.deeper(level);
    out.append(open);
    boolean first = true;
    for (Object item : items) {
      if (!first) {
        out.append(", ");
      }
      first = false;
      value(item, deeper);
    }
    out.append(close);
  }

  private void map(Map<?, ?> map, int level) {
    int deeper = Budget.deeper(level);
    out.append('{');
    boolean first = true;
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      if (!first) {
        out.append(", ");
      }
      first = false;
      value(entry.getKey(), deeper);
      out.append(": ");
      value(entry.getValue(), deeper);
    }
    out.append('}');
  }

  private void quoted(String text) {
    budget.made(text.length());
    char quote = text.indexOf('\'') >= 0 && text.indexOf('"') < 0 ? '"' : '\'';
    out.append(quote);
    text.codePoints()
        .forEach(point -> {
          switch (point) {
            case '\\' -> out.append("\\\\");
            case '\n' -> out.append("\\n");
            case '\r' -> out.append("\\r");
            case '\t' -> out.append("\\t");
            default -> {
              if (point == quote) {
                out.append('\\').append(quote);
              } else if (isPrintable(point)) {
                out.appendCodePoint(point);
              } else if (point < 0x100) {
                out.append("\\x%02x".formatted(point));
              } else if (point < 0x10000) {
                out.append("\\u%04x".formatted(point));
              } else {
                out.append("\\U%08x".formatted(point));
              }
            }
          }
        });
    out.append(quote);
  }

  private static boolean isPrintable(int point) {
    return point == ' '
        || switch (Character.getType(point)) {
          case Character.CONTROL,
              Character.FORMAT,
              Character.SURROGATE,
              Character.PRIVATE_USE,
              Character.UNASSIGNED,
              Character.LINE_SEPARATOR,
              Character.PARAGRAPH_SEPARATOR,
              Character.SPACE_SEPARATOR ->
              false;
          default -> true;
        };
  }
}
