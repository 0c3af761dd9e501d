package dev.flotilla.shape.reply;

import dev.flotilla.wire.text.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Reads tool calls as models write them. */
final class CallText {
  private static final Pattern FUNCTION =
      Pattern.compile("<function=([^>\\s]+)\\s*>(.*?)(?:</function>|$)", Pattern.DOTALL);
  private static final Pattern PARAMETER =
      Pattern.compile("<parameter=([^>\\s]+)\\s*>\\n?(.*?)\\n?</parameter>", Pattern.DOTALL);
  private static final Pattern MISTRAL_NAME =
      Pattern.compile("\\s*([\\w.-]+)\\s*(?:\\[CALL_ID]([\\w-]+)\\s*)?\\[ARGS]\\s*");
  private static final Pattern NAME =
      Pattern.compile("\"name\"\\s*:\\s*\"((?:[^\"\\\\]|\\\\.)*)\"");
  private static final Pattern ARGUMENTS =
      Pattern.compile("\"(?:arguments|parameters)\"\\s*:\\s*", Pattern.DOTALL);

  /** How JSON that is a call by itself begins, up to its name; space aside. */
  private static final List<String> CALL_BEGINNINGS =
      List.of("{\"name\":\"", "{\"type\":\"function\",\"name\":\"");

  /** A call; the id is empty where the model gave none. */
  record Call(String id, String name, String arguments) {}

  private CallText() {}

  /** The calls that the text consists of; none where it has anything else or is not whole. */
  static List<Call> calls(String text, Offered offered) {
    String stripped = text.strip();
    if (stripped.startsWith("<function=")) {
      return stripped.endsWith("</function>") ? xml(stripped, offered) : List.of();
    }
    if (!stripped.startsWith("{") && !stripped.startsWith("[")) {
      return mistral(stripped);
    }
    return json(stripped);
  }

  /** What is left of the calls where the text was cut; none where not even a name is whole. */
  static List<Call> cut(String text, Offered offered) {
    String stripped = text.stripLeading();
    if (stripped.startsWith("<function=")) {
      return xml(stripped, offered);
    }
    Matcher mistral = MISTRAL_NAME.matcher(stripped);
    if (mistral.lookingAt()) {
      return List.of(
          new Call("", mistral.group(1), stripped.substring(mistral.end()).stripTrailing()));
    }
    Matcher name = NAME.matcher(stripped);
    if (!name.find()) {
      return List.of();
    }
    Matcher arguments = ARGUMENTS.matcher(stripped);
    String rest = arguments.find() ? stripped.substring(arguments.end()) : "";
    return List.of(new Call("", unquoted(name.group(1)), rest));
  }

  /** Whether the text, which begins with a brace, may still become a call of an offered tool. */
  static boolean mayBeCall(CharSequence text, Offered offered) {
    for (String beginning : CALL_BEGINNINGS) {
      int at = 0;
      int matched = 0;
      while (at < text.length() && matched < beginning.length()) {
        char c = text.charAt(at);
        if (c == beginning.charAt(matched)) {
          matched++;
        } else if (!Character.isWhitespace(c)) {
          break;
        }
        at++;
      }
      boolean whole = matched == beginning.length();
      if (whole ? mayBeName(text.subSequence(at, text.length()), offered) : at == text.length()) {
        return true;
      }
    }
    return false;
  }

  private static boolean mayBeName(CharSequence begun, Offered offered) {
    String name = begun.toString();
    int quote = name.indexOf('"');
    for (String each : offered.names()) {
      if (quote < 0 ? each.startsWith(name) : each.equals(name.substring(0, quote))) {
        return true;
      }
    }
    return false;
  }

  private static List<Call> xml(String text, Offered offered) {
    List<Call> calls = new ArrayList<>();
    Matcher function = FUNCTION.matcher(text);
    while (function.find()) {
      String name = function.group(1);
      ObjectNode arguments = Json.MAPPER.createObjectNode();
      Matcher parameter = PARAMETER.matcher(function.group(2));
      while (parameter.find()) {
        arguments.set(
            parameter.group(1), value(name, parameter.group(1), parameter.group(2), offered));
      }
      String json = arguments.toString();
      boolean whole = function.group().endsWith("</function>");
      calls.add(new Call("", name, whole ? json : json.substring(0, json.length() - 1)));
    }
    return calls;
  }

  private static JsonNode value(String tool, String parameter, String text, Offered offered) {
    if (!offered.isText(tool, parameter) || offered.isUntyped(tool, parameter)) {
      try {
        JsonNode parsed = Json.MAPPER.readTree(text.strip());
        if (!parsed.isMissingNode()) {
          return parsed;
        }
      } catch (JacksonException _) {
        // It is a text then, whatever the tool wanted.
      }
    }
    return Json.MAPPER.getNodeFactory().stringNode(text);
  }

  /** One JSON object after the other, or lists of them, between them space, commas, semicolons. */
  private static List<Call> json(String text) {
    List<Call> calls = new ArrayList<>();
    String rest = text;
    while (!rest.isEmpty()) {
      JsonEnd first = first(rest);
      if (first == null) {
        return List.of();
      }
      for (JsonNode each : first.each()) {
        JsonNode function = each.path("function").isObject() ? each.get("function") : each;
        String name = function.path("name").asString("");
        if (name.isEmpty()) {
          return List.of();
        }
        JsonNode arguments =
            function.has("arguments") ? function.get("arguments") : function.path("parameters");
        calls.add(new Call(each.path("id").asString(""), name, argumentsText(arguments)));
      }
      rest = rest.substring(first.end).replaceFirst("^[\\s;,]+", "");
    }
    return calls;
  }

  private static List<Call> mistral(String text) {
    List<Call> calls = new ArrayList<>();
    String rest = text;
    while (!rest.isEmpty()) {
      Matcher name = MISTRAL_NAME.matcher(rest);
      JsonEnd arguments = name.lookingAt() ? first(rest.substring(name.end())) : null;
      if (arguments == null) {
        return List.of();
      }
      String id = name.group(2) == null ? "" : name.group(2);
      calls.add(new Call(id, name.group(1), argumentsText(arguments.value)));
      rest = rest.substring(name.end() + arguments.end).strip();
      rest = rest.startsWith("[TOOL_CALLS]") ? rest.substring("[TOOL_CALLS]".length()) : rest;
    }
    return calls;
  }

  private static String argumentsText(JsonNode arguments) {
    if (arguments.isMissingNode() || arguments.isNull()) {
      return "{}";
    }
    return arguments.isString() ? arguments.stringValue() : arguments.toString();
  }

  /** A JSON value, and where the text goes on behind it. */
  private record JsonEnd(JsonNode value, int end) {
    /** Its elements where it is a list, otherwise itself. */
    Iterable<JsonNode> each() {
      return value.isArray() ? value : List.of(value);
    }
  }

  private static @Nullable JsonEnd first(String text) {
    try (JsonParser parser = Json.MAPPER.createParser(text)) {
      JsonToken begins = parser.nextToken();
      if (begins != JsonToken.START_OBJECT && begins != JsonToken.START_ARRAY) {
        return null;
      }
      JsonNode value = parser.readValueAsTree();
      return new JsonEnd(value, (int) parser.currentLocation().getCharOffset());
    } catch (JacksonException _) {
      return null;
    }
  }

  private static String unquoted(String inner) {
    try {
      return Json.MAPPER.readTree('"' + inner + '"').stringValue();
    } catch (JacksonException _) {
      return inner;
    }
  }
}
