package dev.flotilla.gguf.template;

import dev.flotilla.gguf.jinja.Stmt.Parameter;
import dev.flotilla.gguf.jinja.Stmt.Signature;
import dev.flotilla.gguf.python.Arguments;
import dev.flotilla.gguf.python.Callable;
import dev.flotilla.gguf.python.Tuple;
import dev.flotilla.gguf.python.Undefined;
import dev.flotilla.gguf.sandbox.Budget;
import dev.flotilla.gguf.sandbox.Failure;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A macro, or the body of a call block, with the scope that it was written in. */
record Macro(Signature signature, Scope scope, Rendering rendering) implements Callable {
  @Override
  public String name() {
    return signature.name();
  }

  @Override
  public @Nullable Object attribute(String attribute) {
    return attribute.equals("name") ? name() : null;
  }

  @Override
  public Object call(Budget budget, Arguments arguments) {
    Scope inner = scope.inner();
    List<Object> given = arguments.positional();
    Map<String, Object> named = new LinkedHashMap<>(arguments.named());
    List<Parameter> parameters = signature.parameters();
    boolean callerIsParameter = false;
    for (int i = 0; i < parameters.size(); i++) {
      Parameter parameter = parameters.get(i);
      callerIsParameter |= parameter.name().equals("caller");
      Object value = i < given.size() ? given.get(i) : named.remove(parameter.name());
      if (value == null) {
        value =
            parameter.otherwise() != null
                ? rendering.evaluate(parameter.otherwise(), inner)
                : new Undefined("parameter '" + parameter.name() + "' was not provided");
      }
      inner.set(parameter.name(), value);
    }
    if (signature.takesCaller() && !callerIsParameter) {
      Object caller = named.remove("caller");
      inner.set("caller", caller == null ? new Undefined("no caller defined") : caller);
    }
    if (signature.takesNamed()) {
      inner.set("kwargs", new LinkedHashMap<Object, Object>(named));
    } else if (!named.isEmpty()) {
      throw Failure.failed(
          "macro '%s' takes no keyword argument '%s'", name(), named.keySet().iterator().next());
    }
    int more = given.size() - parameters.size();
    if (signature.takesMore()) {
      inner.set(
          "varargs",
          new Tuple(more > 0 ? given.subList(parameters.size(), given.size()) : List.of()));
    } else if (more > 0) {
      throw Failure.failed(
          "macro '%s' takes not more than %d argument(s)", name(), parameters.size());
    }
    return rendering.capture(signature.body(), inner);
  }
}
