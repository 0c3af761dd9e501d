package dev.flotilla.gguf.python;

import dev.flotilla.gguf.python.Callable.Function;
import dev.flotilla.gguf.sandbox.Budget;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Text that was marked as safe. Python's Jinja keeps the mark even where nothing is escaped by
 * itself, and a text that is added to a marked one with {@code +} is escaped for HTML; there are
 * models that were trained on prompts with <code>&amp;#34;</code> in them for that reason.
 */
public record Markup(String text) {
  /** A marked text as any other text; other values as they are. */
  static Object plain(Object value) {
    return value instanceof Markup markup ? markup.text : value;
  }

  /** The mark on what a text has become. */
  public static Object marked(Object value) {
    return switch (value) {
      case String text -> new Markup(text);
      case List<?> list -> new ArrayList<Object>(list.stream().map(Markup::marked).toList());
      case Tuple tuple -> new Tuple(tuple.items().stream().map(Markup::marked).toList());
      default -> value;
    };
  }

  /** A value as text that HTML reads as that text; a marked one as it is. */
  public static String escaped(Object value, Budget budget) {
    if (value instanceof Markup markup) {
      return markup.text;
    }
    String escaped =
        Written.text(value, budget)
            .replace("&", "&amp;")
            .replace("<", "&lt;")
            .replace(">", "&gt;")
            .replace("'", "&#39;")
            .replace("\"", "&#34;");
    budget.made(escaped.length());
    return escaped;
  }

  /** The sum of two texts of which at least one is marked. */
  static Markup sum(Object a, Object b, Budget budget) {
    String left = escaped(a, budget);
    String right = escaped(b, budget);
    budget.made(left.length() + (long) right.length());
    return new Markup(left + right);
  }

  /** A method of a marked text: what it puts in is escaped, what it makes is marked. */
  @Nullable Callable method(String name) {
    Callable method = TextMethods.of(text, name);
    if (method == null) {
      return null;
    }
    boolean putsIn = name.equals("format") || name.equals("join") || name.equals("replace");
    return new Function(
        name,
        (budget, arguments) ->
            marked(method.call(budget, putsIn ? escaped(name, arguments, budget) : arguments)));
  }

  private static Arguments escaped(String name, Arguments arguments, Budget budget) {
    List<Object> positional = new ArrayList<>();
    for (Object each : arguments.positional()) {
      boolean searched = name.equals("replace") && positional.isEmpty();
      positional.add(searched ? plain(each) : deep(each, budget));
    }
    Map<String, Object> named = new LinkedHashMap<>();
    arguments.named().forEach((key, value) -> named.put(key, deep(value, budget)));
    return new Arguments(positional, named);
  }

  private static Object deep(Object value, Budget budget) {
    return switch (value) {
      case String text -> escaped(text, budget);
      case Markup markup -> markup.text;
      case List<?> list -> {
        List<Object> all = new ArrayList<>();
        list.forEach(each -> all.add(each instanceof String ? escaped(each, budget) : plain(each)));
        yield all;
      }
      default -> value;
    };
  }
}
