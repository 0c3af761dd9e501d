package dev.flotilla.gguf.python;

import dev.flotilla.gguf.sandbox.Failure;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Arguments of a call, by place and by name. */
public record Arguments(List<Object> positional, Map<String, Object> named) {
  /** Those of a call with empty parentheses. */
  public static final Arguments NONE = new Arguments(List.of(), Map.of());

  /** Arguments by place. */
  public static Arguments of(Object... positional) {
    return new Arguments(List.of(positional), Map.of());
  }

  /** All but the first {@code count} by place. */
  public Arguments after(int count) {
    return new Arguments(positional.subList(count, positional.size()), named);
  }

  /**
   * The arguments of a function whose parameters are these.
   *
   * @throws Failure for more arguments than parameters, or an unknown name
   */
  public Bound bind(String function, String... parameters) {
    List<@Nullable Object> values = new ArrayList<>();
    if (positional.size() > parameters.length) {
      throw Failure.failed(
          "%s takes at most %d arguments, %d are given",
          function, parameters.length, positional.size());
    }
    Map<String, Object> rest = new LinkedHashMap<>(named);
    for (int i = 0; i < parameters.length; i++) {
      Object byName = rest.remove(parameters[i]);
      if (i < positional.size()) {
        if (byName != null) {
          throw Failure.failed("%s got two values for '%s'", function, parameters[i]);
        }
        values.add(positional.get(i));
      } else {
        values.add(byName);
      }
    }
    if (!rest.isEmpty()) {
      throw Failure.failed(
          "%s got an unexpected argument '%s'", function, rest.keySet().iterator().next());
    }
    return new Bound(function, parameters, values);
  }

  /** Arguments in the order of a function's parameters. */
  public static final class Bound {
    private final String function;
    private final String[] parameters;
    private final List<@Nullable Object> values;

    private Bound(String function, String[] parameters, List<@Nullable Object> values) {
      this.function = function;
      this.parameters = parameters;
      this.values = values;
    }

    /** The values that are given, up to the first that is not. */
    public List<Object> given() {
      List<Object> given = new ArrayList<>();
      for (Object value : values) {
        if (value == null) {
          break;
        }
        given.add(value);
      }
      return given;
    }

    /** Whether a value is given for the parameter with that number, from 0. */
    public boolean has(int index) {
      return values.get(index) != null;
    }

    /** The value, or another where none is given. */
    public Object or(int index, Object otherwise) {
      Object value = values.get(index);
      return value == null ? otherwise : value;
    }

    /**
     * The value.
     *
     * @throws Failure where none is given
     */
    public Object required(int index) {
      Object value = values.get(index);
      if (value == null) {
        throw Failure.failed("%s needs the argument '%s'", function, parameters[index]);
      }
      return value;
    }

    /** The value's truth, or another where none is given. */
    public boolean truth(int index, boolean otherwise) {
      Object value = values.get(index);
      return value == null ? otherwise : Kinds.truth(value);
    }

    /** A text, or another where none is given. */
    public String text(int index, String otherwise) {
      return values.get(index) == null ? otherwise : text(index);
    }

    /**
     * A text.
     *
     * @throws Failure where none is given, or something else
     */
    public String text(int index) {
      Object value = Markup.plain(required(index));
      if (value instanceof String text) {
        return text;
      }
      if (value instanceof Undefined missing) {
        throw missing.failure();
      }
      throw Failure.failed(
          "%s needs a str as '%s', not %s", function, parameters[index], Kinds.name(value));
    }

    /**
     * A whole number, or another where none is given.
     *
     * @throws Failure where something else is given
     */
    public long whole(int index, long otherwise) {
      Object value = values.get(index);
      if (value == null) {
        return otherwise;
      }
      return Numbers.index(value, function);
    }
  }
}
