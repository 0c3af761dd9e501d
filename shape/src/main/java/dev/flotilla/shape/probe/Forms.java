package dev.flotilla.shape.probe;

import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/**
 * Which forms the values of JSON have, place by place, over as many documents as are taken in. The
 * elements of a list share one place. For one thread.
 */
final class Forms {
  /** How deep it looks. */
  private static final int DEPTH_MAX = 12;

  private static final int VALUE_CHARS_MAX = 40;
  private static final int NAME_CHARS_MAX = 60;

  /** Places whose values are the API's own words, and so part of the shape. */
  private static final Set<String> WORDS =
      Set.of(
          "object",
          "finish_reason",
          "role",
          "index",
          "error.type",
          "error.code",
          "error.param",
          "tool_calls[].type",
          "function.name");

  private static final Set<String> MODELS = Set.of("model", "chunk.model", "usage chunk.model");

  /** Lists whose length is part of the shape. */
  private static final Set<String> COUNTED =
      Set.of("choices", "data", "tool_calls", "top_logprobs");

  private final String asked;
  private final int placesMax;
  private final Map<String, Set<String>> forms = new TreeMap<>();
  private final Map<String, Integer> objects = new HashMap<>();
  private final Map<String, Integer> present = new HashMap<>();
  private boolean tooMany;

  /**
   * @param asked the model's name in the request
   */
  Forms(String asked, int placesMax) {
    this.asked = asked;
    this.placesMax = placesMax;
  }

  /** Takes in one more document, whose fields lie under that prefix. */
  void take(String prefix, JsonNode document) {
    object(prefix, document, 0);
  }

  /** The forms by place, in the order of the places. */
  Map<String, String> facts() {
    present.forEach((place, count) -> {
      int dot = place.lastIndexOf('.');
      String parent = dot < 0 ? "" : place.substring(0, dot + 1);
      // A piece of an answer has the fields that it needs: which those are is the events' order.
      if (!parent.contains(".delta.") && count < objects.getOrDefault(parent, 0)) {
        add(place, Shape.ABSENT);
      }
    });
    Map<String, String> facts = new LinkedHashMap<>();
    forms.forEach((place, seen) -> facts.put(place, String.join(" or ", seen)));
    if (tooMany) {
      facts.put("fields", "more than " + placesMax);
    }
    return facts;
  }

  private void object(String prefix, JsonNode object, int depth) {
    objects.merge(prefix, 1, Integer::sum);
    object
        .properties()
        .forEach(field -> {
          String place = prefix + printable(field.getKey(), NAME_CHARS_MAX);
          present.merge(place, 1, Integer::sum);
          value(place, field.getValue(), depth + 1);
        });
  }

  private void value(String place, JsonNode value, int depth) {
    if (depth > DEPTH_MAX) {
      add(place, "deeper than " + DEPTH_MAX + " levels");
    } else if (value.isObject()) {
      add(place, "object");
      object(place + ".", value, depth);
    } else if (value.isArray()) {
      add(place, endsWithAny(place, COUNTED) ? "list of " + value.size() : "list");
      for (JsonNode element : value) {
        if (element.isObject()) {
          object(place + "[].", element, depth);
        } else {
          value(place + "[]", element, depth + 1);
        }
      }
    } else {
      add(place, scalar(place, value));
    }
  }

  private String scalar(String place, JsonNode value) {
    if (value.isNull()) {
      return "null";
    }
    if (MODELS.contains(place)) {
      return value.isString() && value.stringValue().equals(asked) ? "as asked" : "another name";
    }
    if (value.isString()) {
      if (endsWithAny(place, WORDS)) {
        return '"' + printable(value.stringValue(), VALUE_CHARS_MAX) + '"';
      }
      return value.stringValue().isEmpty() ? "empty string" : "string";
    }
    if (value.isBoolean()) {
      return "boolean";
    }
    if (value.isIntegralNumber()) {
      return endsWithAny(place, WORDS)
          ? printable(value.toString(), VALUE_CHARS_MAX)
          : value.toString().startsWith("-") ? "negative integer" : "integer";
    }
    return "number";
  }

  private void add(String place, String form) {
    Set<String> seen = forms.get(place);
    if (seen == null) {
      if (forms.size() == placesMax) {
        tooMany = true;
        return;
      }
      seen = new TreeSet<>();
      forms.put(place, seen);
    }
    if (seen.size() < placesMax) {
      seen.add(form);
    }
  }

  private static boolean endsWithAny(String place, Set<String> endings) {
    for (String ending : endings) {
      if (place.endsWith(ending)
          && (place.length() == ending.length()
              || place.charAt(place.length() - ending.length() - 1) == '.')) {
        return true;
      }
    }
    return false;
  }

  /** The single forms of what a fact says. */
  static Set<String> of(String seen) {
    return Arrays.stream(seen.split(" or ", -1)).collect(Collectors.toCollection(TreeSet::new));
  }

  /** A server's own words, fit for a line of text: cut, and without what moves a cursor. */
  static String printable(String text, int charsMax) {
    StringBuilder shown = new StringBuilder();
    for (int i = 0; i < text.length() && shown.length() < charsMax; i++) {
      char c = text.charAt(i);
      boolean plain =
          c >= ' '
              && c != 0x7f
              && !Character.isSurrogate(c)
              && Character.getType(c) != Character.FORMAT
              && Character.getType(c) != Character.CONTROL;
      shown.append(plain ? c : '?');
    }
    return text.length() > shown.length() ? shown + "…" : shown.toString();
  }
}
