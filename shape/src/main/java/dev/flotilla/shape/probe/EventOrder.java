package dev.flotilla.shape.probe;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;

/**
 * In which order the events of a stream come, each named by what it brings, runs folded: {@code
 * role content… finish usage [DONE]}. Of several answers each has its own order, since a server may
 * mix them as it likes. For one thread.
 */
final class EventOrder {
  /** Steps of one order that are kept. */
  private static final int STEPS_MAX = 24;

  private static final int NAME_CHARS_MAX = 30;

  /** Fields of a delta that say nothing by themselves. */
  private static final Set<String> KNOWN =
      Set.of("role", "content", "reasoning_content", "reasoning", "tool_calls");

  private static final String CHOICES = "choices";

  private final Map<Integer, Steps> choices = new TreeMap<>();
  private final Steps whole = new Steps();
  private final Steps outside = new Steps();

  /** An event that belongs to no answer. */
  void add(String step) {
    whole.add(step, false);
    outside.add(step, false);
  }

  /** What an event says of one answer. */
  void add(int index, JsonNode choice) {
    List<String> parts = new ArrayList<>();
    JsonNode delta = choice.path("delta");
    if (delta.has("role") && !delta.path("role").isNull()) {
      parts.add("role");
    }
    for (String field : Answer.REASONING_FIELDS) {
      if (said(delta, field)) {
        parts.add(field);
      }
    }
    if (said(delta, "content") || said(choice, "text")) {
      parts.add("content");
    }
    if (!delta.path("tool_calls").isEmpty()) {
      parts.add("call");
    }
    delta
        .properties()
        .forEach(field -> {
          boolean none = field.getValue().isNull() || field.getValue().isEmpty();
          if (!KNOWN.contains(field.getKey()) && !none && parts.size() < KNOWN.size()) {
            parts.add(Forms.printable(field.getKey(), NAME_CHARS_MAX).replace(' ', '_'));
          }
        });
    boolean running = !parts.isEmpty() && !parts.equals(List.of("role"));
    if (choice.hasNonNull("finish_reason")) {
      parts.add("finish");
      running = false;
    }
    outside.add(CHOICES, true);
    if (parts.isEmpty()) {
      // Half a character, or a step of the engine that brought no text.
      return;
    }
    String step = String.join("+", parts);
    whole.add(step, running);
    choices.computeIfAbsent(index, _ -> new Steps()).add(step, running);
  }

  private static boolean said(JsonNode object, String field) {
    return object.path(field).isString() && !object.path(field).stringValue().isEmpty();
  }

  Map<String, String> facts() {
    Map<String, String> facts = new LinkedHashMap<>();
    if (choices.size() <= 1) {
      facts.put("order", whole.toString());
      return facts;
    }
    facts.put("order", outside.toString());
    choices.forEach((index, steps) -> facts.put("order of answer " + index, steps.toString()));
    return facts;
  }

  /** Steps with runs folded. */
  private static final class Steps {
    private final List<String> steps = new ArrayList<>();
    private String last = "";
    private int times;
    private boolean more;

    void add(String step, boolean running) {
      if (step.equals(last)) {
        times++;
        if (!running) {
          steps.set(steps.size() - 1, step + "×" + times);
        }
        return;
      }
      if (steps.size() == STEPS_MAX) {
        more = true;
        return;
      }
      last = step;
      times = 1;
      steps.add(running ? step + "…" : step);
    }

    @Override
    public String toString() {
      return steps.isEmpty() ? "nothing" : String.join(" ", steps) + (more ? " and more" : "");
    }
  }
}
