package dev.flotilla.engine.serve;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The calls that a text spells; none where it spells something else. */
final class CallText {
  /** Calls of one answer. */
  private static final int CALLS_MAX = 64;

  private CallText() {}

  /**
   * A call.
   *
   * @param arguments a JSON object
   */
  record Call(String name, String arguments) {}

  static List<Call> read(CallFormat format, String body) {
    String text = body.strip();
    return switch (format) {
      case HERMES ->
          text.startsWith("<function=") ? function(text) : one(text, "arguments", "parameters");
      case LLAMA -> several(text, "parameters", "arguments");
      case MISTRAL ->
          text.contains("[ARGS]") ? named(text) : several(text, "arguments", "parameters");
      case GEMMA -> gemma(text);
    };
  }

  private static List<Call> one(String text, String field, String other) {
    ObjectNode object = Json.objectIn(text);
    return object == null ? List.of() : call(object, field, other).stream().toList();
  }

  /** A list of calls, or calls apart from each other by semicolons or nothing. */
  private static List<Call> several(String text, String field, String other) {
    List<Call> calls = new ArrayList<>();
    try {
      for (JsonNode each : Json.values(text)) {
        List<JsonNode> members = new ArrayList<>();
        if (each.isArray()) {
          each.forEach(members::add);
        } else {
          members.add(each);
        }
        for (JsonNode member : members) {
          Optional<Call> call =
              member instanceof ObjectNode object ? call(object, field, other) : Optional.empty();
          if (call.isEmpty() || calls.size() == CALLS_MAX) {
            return List.of();
          }
          calls.add(call.get());
        }
      }
    } catch (JacksonException noJson) {
      return List.of();
    }
    return calls;
  }

  private static Optional<Call> call(ObjectNode object, String field, String other) {
    JsonNode name = object.get("name");
    JsonNode arguments = object.has(field) ? object.get(field) : object.get(other);
    if (name == null || !name.isString()) {
      return Optional.empty();
    }
    if (arguments == null || arguments.isNull()) {
      return Optional.of(new Call(name.stringValue(), "{}"));
    }
    ObjectNode spelled = arguments.isString() ? Json.objectIn(arguments.stringValue()) : null;
    JsonNode whole = spelled == null ? arguments : spelled;
    return whole.isObject()
        ? Optional.of(new Call(name.stringValue(), Json.text(whole)))
        : Optional.empty();
  }

  /** {@code name[ARGS]{…}}, and again after another mark. */
  private static List<Call> named(String text) {
    List<Call> calls = new ArrayList<>();
    for (String each : text.split("\\[TOOL_CALLS]", -1)) {
      int args = each.indexOf("[ARGS]");
      if (args < 0) {
        return List.of();
      }
      String name = each.substring(0, args).replaceFirst("\\[CALL_ID].*", "").strip();
      ObjectNode arguments = Json.objectIn(each.substring(args + "[ARGS]".length()));
      if (arguments == null || name.isEmpty()) {
        return List.of();
      }
      calls.add(new Call(name, Json.text(arguments)));
    }
    return calls;
  }

  /** {@code <function=name><parameter=key>value</parameter>…</function>}: Qwen's coders. */
  private static List<Call> function(String text) {
    int nameEnd = text.indexOf('>');
    if (nameEnd < 0) {
      return List.of();
    }
    ObjectNode arguments = Json.object();
    String rest = text.substring(nameEnd + 1);
    int at = rest.indexOf("<parameter=");
    while (at >= 0) {
      int keyEnd = rest.indexOf('>', at);
      int valueEnd = rest.indexOf("</parameter>", at);
      if (keyEnd < 0 || valueEnd < keyEnd) {
        return List.of();
      }
      String key = rest.substring(at + "<parameter=".length(), keyEnd);
      arguments.set(key, Json.valueOrText(rest.substring(keyEnd + 1, valueEnd).strip()));
      at = rest.indexOf("<parameter=", valueEnd);
    }
    String name = text.substring("<function=".length(), nameEnd);
    return List.of(new Call(name, Json.text(arguments)));
  }

  /** {@code call:name{key:<escape>text<escape>,key:1}}. */
  private static List<Call> gemma(String text) {
    int brace = text.indexOf('{');
    if (!text.startsWith("call:") || brace < 0 || !text.endsWith("}")) {
      return List.of();
    }
    ObjectNode arguments = Json.object();
    String rest = text.substring(brace + 1, text.length() - 1);
    while (!rest.isBlank()) {
      int colon = rest.indexOf(':');
      if (colon < 0) {
        return List.of();
      }
      String key = rest.substring(0, colon).strip();
      String value = rest.substring(colon + 1);
      int end;
      if (value.startsWith("<escape>")) {
        int closing = value.indexOf("<escape>", 8);
        if (closing < 0) {
          return List.of();
        }
        arguments.put(key, value.substring(8, closing));
        end = closing + 8;
      } else {
        int comma = value.indexOf(',');
        end = comma < 0 ? value.length() : comma;
        arguments.set(key, Json.valueOrText(value.substring(0, end).strip()));
      }
      rest = value.substring(Math.min(value.length(), end + 1));
    }
    return List.of(new Call(text.substring(5, brace).strip(), Json.text(arguments)));
  }
}
