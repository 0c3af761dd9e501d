package dev.flotilla.shape.probe;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;

/**
 * What one choice of a reply came to, put together from its message, or piece by piece from the
 * deltas of a stream. For one thread.
 */
final class Answer {
  /** The fields in which engines put reasoning. */
  static final List<String> REASONING_FIELDS = List.of("reasoning_content", "reasoning");

  /** Calls of one answer that are looked at. */
  private static final int CALLS_MAX = 64;

  /** How the ids of calls are. */
  enum Ids {
    FINE("one each"),
    MISSING("missing"),
    REPEATED("said again"),
    SHARED("the same twice"),
    CHANGING("changing");

    final String words;

    Ids(String words) {
      this.words = words;
    }
  }

  /** One tool call. */
  static final class Call {
    final StringBuilder name = new StringBuilder();
    final StringBuilder arguments = new StringBuilder();
    private final Set<String> ids = new LinkedHashSet<>();
    private int idsSaid;
    private boolean typed;

    /** Whether the arguments came as JSON, and not as text that holds JSON. */
    boolean bare;
  }

  final StringBuilder text = new StringBuilder();
  final Set<String> reasoningFields = new LinkedHashSet<>();
  final TreeMap<Integer, Call> calls = new TreeMap<>();
  String finish = "";
  int pieces;
  private boolean oldFunctionCall;
  private boolean indexMissing;
  private int lastIndex = -1;
  private boolean indexJumped;

  /** Takes in a message, or one delta of it. */
  void take(JsonNode message, boolean delta) {
    String content = message.path("content").asString("");
    text.append(content);
    boolean said = !content.isEmpty();
    for (String field : REASONING_FIELDS) {
      String thought = message.path(field).isString() ? message.path(field).stringValue() : "";
      if (!thought.isEmpty()) {
        reasoningFields.add(field);
        said = true;
      }
    }
    pieces += said ? 1 : 0;
    oldFunctionCall |= message.path("function_call").isObject();
    int place = 0;
    for (JsonNode call : message.path("tool_calls")) {
      take(call, delta, place++);
    }
  }

  /** Takes in a piece of a plain completion. */
  void takeText(String piece) {
    text.append(piece);
    pieces += piece.isEmpty() ? 0 : 1;
  }

  private void take(JsonNode said, boolean delta, int place) {
    int index = place;
    if (delta) {
      JsonNode named = said.path("index");
      indexMissing |= !named.isIntegralNumber();
      index = named.isIntegralNumber() && named.canConvertToInt() ? named.intValue() : place;
      indexJumped |= index != lastIndex && index != lastIndex + 1;
      lastIndex = index;
    }
    if (!calls.containsKey(index) && calls.size() == CALLS_MAX) {
      return;
    }
    Call call = calls.computeIfAbsent(index, _ -> new Call());
    if (said.path("id").isString() && !said.path("id").stringValue().isEmpty()) {
      call.ids.add(said.path("id").stringValue());
      call.idsSaid++;
    }
    call.typed |= said.path("type").isString();
    JsonNode function = said.path("function");
    call.name.append(function.path("name").asString(""));
    JsonNode arguments = function.path("arguments");
    call.arguments.append(arguments.isString() ? arguments.stringValue() : "");
    call.bare |= arguments.isContainer();
  }

  /** What it is made of: text, calls, both, or nothing. */
  String kind() {
    List<String> parts = new ArrayList<>();
    if (!text.isEmpty()) {
      parts.add("text");
    }
    if (!calls.isEmpty()) {
      parts.add("calls");
    }
    if (oldFunctionCall) {
      parts.add("function_call");
    }
    return parts.isEmpty() ? "nothing" : String.join(" and ", parts);
  }

  /** The text without a thought that stands in front of it, and without space around it. */
  String spoken() {
    String all = text.toString().strip();
    if (!all.startsWith("<think>")) {
      return all;
    }
    int end = all.indexOf("</think>");
    return end < 0 ? "" : all.substring(end + "</think>".length()).strip();
  }

  /** The places of the reasoning. */
  Set<String> reasoning() {
    Set<String> places = new LinkedHashSet<>(reasoningFields);
    if (text.indexOf("<think>") >= 0 || text.indexOf("</think>") >= 0) {
      places.add("inline");
    }
    if (places.isEmpty()) {
      places.add("none");
    }
    return places;
  }

  Ids ids() {
    Set<String> all = new LinkedHashSet<>();
    Ids worst = Ids.FINE;
    for (Call call : calls.values()) {
      if (call.ids.isEmpty()) {
        return Ids.MISSING;
      }
      if (call.ids.size() > 1) {
        return Ids.CHANGING;
      }
      if (!all.addAll(call.ids)) {
        worst = Ids.SHARED;
      } else if (call.idsSaid > 1 && worst == Ids.FINE) {
        worst = Ids.REPEATED;
      }
    }
    return worst;
  }

  /** How the calls of a stream are counted. */
  String indexes() {
    if (indexMissing) {
      return "missing";
    }
    return indexJumped || (!calls.isEmpty() && calls.firstKey() != 0)
        ? "not counted from 0"
        : "counted from 0";
  }

  boolean typesMissing() {
    return calls.values().stream().anyMatch(call -> !call.typed);
  }
}
