package dev.flotilla.gguf.template;

import dev.flotilla.gguf.python.Arguments;
import dev.flotilla.gguf.python.Attributes;
import dev.flotilla.gguf.python.Blanks;
import dev.flotilla.gguf.python.Callable;
import dev.flotilla.gguf.python.Kinds;
import dev.flotilla.gguf.python.Markup;
import dev.flotilla.gguf.python.None;
import dev.flotilla.gguf.python.Numbers;
import dev.flotilla.gguf.python.PercentFormat;
import dev.flotilla.gguf.python.Slices;
import dev.flotilla.gguf.python.Split;
import dev.flotilla.gguf.python.TextMethods;
import dev.flotilla.gguf.python.Tuple;
import dev.flotilla.gguf.python.Undefined;
import dev.flotilla.gguf.python.Written;
import dev.flotilla.gguf.sandbox.Budget;
import dev.flotilla.gguf.sandbox.Failure;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/** Filters of texts. They take anything else as it is printed. */
final class TextFilters {
  static final Map<String, Filter> ALL = all();

  private TextFilters() {}

  private static Map<String, Filter> all() {
    Map<String, Filter> all = new HashMap<>();
    all.put("string", alone("string", text -> text));
    all.put("safe", alone("safe", Markup::new));
    all.put("upper", alone("upper", text -> text.toUpperCase(Locale.ROOT)));
    all.put("lower", alone("lower", text -> text.toLowerCase(Locale.ROOT)));
    all.put("capitalize", alone("capitalize", text -> TextMethods.capitalized(text)));
    all.put("title", alone("title", text -> titled(text)));
    all.put("trim", TextFilters::trim);
    all.put("replace", TextFilters::replace);
    all.put("indent", TextFilters::indent);
    all.put("center", TextFilters::center);
    all.put("format", TextFilters::format);
    all.put("truncate", TextFilters::truncate);
    all.put("wordcount", alone("wordcount", text -> words(text)));
    all.put("urlencode", TextFilters::urlEncode);
    all.replaceAll((name, filter) -> counted(filter));
    return Map.copyOf(all);
  }

  /** A filter without arguments. */
  private static Filter alone(String name, Function<String, Object> change) {
    return (budget, value, arguments) -> {
      arguments.bind(name);
      return change.apply(text(budget, value));
    };
  }

  /** A filter whose text counts as made. */
  private static Filter counted(Filter filter) {
    return (budget, value, arguments) -> {
      Object result = filter.apply(budget, value, arguments);
      if (result instanceof String made) {
        budget.made(made.length());
      }
      return result;
    };
  }

  private static String text(Budget budget, Object value) {
    return Written.text(value, budget);
  }

  /** A text where Python's filter takes nothing else. */
  private static String onlyText(String filter, Object value) {
    return switch (value) {
      case String text -> text;
      case Markup markup -> markup.text();
      case Undefined missing -> throw missing.failure();
      default -> throw Failure.failed("%s needs a str, not %s", filter, Kinds.name(value));
    };
  }

  private static Object trim(Budget budget, Object value, Arguments arguments) {
    Object set = arguments.bind("trim", "chars").or(0, None.NONE);
    return TextMethods.stripped(text(budget, value), set, true, true);
  }

  private static Object replace(Budget budget, Object value, Arguments arguments) {
    Arguments.Bound bound = arguments.bind("replace", "old", "new", "count");
    Object count = bound.or(2, None.NONE);
    return TextMethods.replaced(
        text(budget, value),
        text(budget, bound.required(0)),
        text(budget, bound.required(1)),
        count instanceof None ? -1 : Numbers.index(count, "replace"),
        budget);
  }

  private static Object indent(Budget budget, Object value, Arguments arguments) {
    Arguments.Bound bound = arguments.bind("indent", "width", "first", "blank");
    String step =
        bound.or(0, 4L) instanceof String given
            ? given
            : " ".repeat(Math.clamp(bound.whole(0, 4), 0, 1000));
    List<Object> lines = Split.lines(onlyText("indent", value) + "\n", false);
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < lines.size(); i++) {
      String line = (String) lines.get(i);
      boolean indented = i == 0 ? bound.truth(1, false) : bound.truth(2, false) || !line.isEmpty();
      budget.made(line.length() + (long) step.length());
      out.append(i == 0 ? "" : "\n").append(indented ? step : "").append(line);
    }
    return out.toString();
  }

  private static Object center(Budget budget, Object value, Arguments arguments) {
    long width = arguments.bind("center", "width").whole(0, 80);
    Callable method = TextMethods.of(text(budget, value), "center");
    return method == null ? value : method.call(budget, Arguments.of(width));
  }

  private static Object format(Budget budget, Object value, Arguments arguments) {
    if (!arguments.named().isEmpty() && !arguments.positional().isEmpty()) {
      throw Failure.failed("can't handle positional and keyword arguments at the same time");
    }
    Object values =
        arguments.named().isEmpty()
            ? new Tuple(arguments.positional())
            : new LinkedHashMap<Object, Object>(arguments.named());
    return PercentFormat.format(text(budget, value), values, budget);
  }

  private static Object truncate(Budget budget, Object value, Arguments arguments) {
    Arguments.Bound bound = arguments.bind("truncate", "length", "killwords", "end", "leeway");
    long length = bound.whole(0, 255);
    if (Kinds.length(value, budget) <= length + bound.whole(3, 5)) {
      return value;
    }
    String text = onlyText("truncate", value);
    String end = bound.text(2, "...");
    long kept = Math.max(0, length - Kinds.length(end, budget));
    String part = (String) Slices.of(text, None.NONE, kept, None.NONE, budget);
    int blank = part.lastIndexOf(' ');
    return (bound.truth(1, false) || blank < 0 ? part : part.substring(0, blank)) + end;
  }

  private static Object words(String text) {
    boolean within = false;
    long words = 0;
    for (int at = 0; at < text.length(); ) {
      int point = text.codePointAt(at);
      boolean word = point == '_' || Character.isLetterOrDigit(point);
      words += word && !within ? 1 : 0;
      within = word;
      at += Character.charCount(point);
    }
    return words;
  }

  /** A capital after each blank, hyphen or opening bracket, small letters elsewhere. */
  private static String titled(String text) {
    StringBuilder out = new StringBuilder(text.length());
    boolean first = true;
    for (int at = 0; at < text.length(); ) {
      int point = text.codePointAt(at);
      out.append(
          first
              ? Character.toString(point).toUpperCase(Locale.ROOT)
              : Character.toString(point).toLowerCase(Locale.ROOT));
      first = point == '-' || "({[<".indexOf(point) >= 0 || Blanks.isBlank(point);
      at += Character.charCount(point);
    }
    return out.toString();
  }

  private static Object urlEncode(Budget budget, Object value, Arguments arguments) {
    if (!(value instanceof Map<?, ?>) && !(value instanceof List<?>)) {
      return urlEncoded(text(budget, value)).replace("%2F", "/");
    }
    List<Object> pairs =
        value instanceof Map<?, ?> map
            ? Attributes.pairs(map, budget)
            : Kinds.elements(value, budget);
    StringBuilder query = new StringBuilder();
    for (Object pair : pairs) {
      List<Object> parts = Kinds.elements(pair, budget);
      if (parts.size() != 2) {
        throw Failure.failed("urlencode needs pairs");
      }
      query.append(query.isEmpty() ? "" : "&");
      query.append(urlEncoded(text(budget, parts.getFirst())).replace("%20", "+")).append('=');
      query.append(urlEncoded(text(budget, parts.getLast())).replace("%20", "+"));
    }
    return query.toString();
  }

  private static String urlEncoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8)
        .replace("+", "%20")
        .replace("*", "%2A")
        .replace("%7E", "~");
  }
}
