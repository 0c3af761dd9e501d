package dev.flotilla.shape.probe;

import dev.flotilla.shape.probe.Probe.Free;
import dev.flotilla.shape.probe.Probe.Refused;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Whether the replies of two servers to one probe have the same shape. In this they may lawfully
 * differ, and in nothing else:
 *
 * <ul>
 *   <li>how many events a text, a thought or a call's arguments are cut into;
 *   <li>fields that the API leaves to the server: {@code system_fingerprint}, {@code service_tier},
 *       the details of a usage, and those of its own that are {@code null} or missing;
 *   <li>whether a piece of a stream that says nothing has {@code null}, an empty string or no field
 *       at all;
 *   <li>how the answers of one stream are mixed and shared out among its events;
 *   <li>{@code bytes} of a log-probability, which may be {@code null};
 *   <li>whether some of a vector's numbers are whole;
 *   <li>what the model decides ({@link Probe#free()}): whether it ends by itself or at the limit,
 *       and so whether words follow a thought or its JSON is whole; whether and how often it calls
 *       a tool; with one that thinks all of this, for it may think until the limit;
 *   <li>of a refusal, the field that it names ({@code error.param}).
 * </ul>
 */
public final class Comparison {
  private Comparison() {}

  /**
   * Where the second shape differs, the first difference first; empty where they are the same.
   *
   * @return differences whose {@code expected} is the first server's
   */
  public static List<Difference> differences(Probe probe, Shape first, Shape second) {
    boolean thinks = thinks(first) || thinks(second);
    Map<String, String> left = lawful(probe, first, thinks);
    Map<String, String> right = lawful(probe, second, thinks);
    if ((thinks || probe.free().contains(Free.CALL)) && !calls(first).equals(calls(second))) {
      forgetAnswer(left);
      forgetAnswer(right);
    }
    Set<String> places = new LinkedHashSet<>(left.keySet());
    places.addAll(right.keySet());
    List<Difference> differences = new ArrayList<>();
    for (String place : places) {
      String expected = left.getOrDefault(place, Shape.ABSENT);
      String seen = right.getOrDefault(place, Shape.ABSENT);
      if (!expected.equals(seen)) {
        differences.add(new Difference(place, expected, seen));
      }
      if (place.equals("status") && !expected.equals(seen)) {
        // An answer and an error have nothing in common that would say more.
        break;
      }
    }
    return topmost(differences);
  }

  /** Where a whole object is missing on one side, its fields are too: that says nothing new. */
  private static List<Difference> topmost(List<Difference> differences) {
    Set<String> missing = new HashSet<>();
    for (Difference each : differences) {
      if (each.expected().equals(Shape.ABSENT) || each.seen().equals(Shape.ABSENT)) {
        missing.add(each.place());
      }
    }
    return differences.stream().filter(each -> !under(each.place(), missing)).toList();
  }

  private static boolean under(String place, Set<String> missing) {
    for (int end = place.lastIndexOf('.'); end > 0; end = place.lastIndexOf('.', end - 1)) {
      String parent = place.substring(0, end);
      if (missing.contains(parent)
          || (parent.endsWith("[]") && missing.contains(parent.substring(0, end - 2)))) {
        return true;
      }
    }
    return false;
  }

  /** The facts without what two servers may differ in. */
  private static Map<String, String> lawful(Probe probe, Shape shape, boolean thinks) {
    Map<String, String> facts = new LinkedHashMap<>();
    boolean refused = probe.wanted() instanceof Refused && !shape.seen("status").equals("200");
    shape
        .facts()
        .forEach((place, seen) -> {
          if (!OptionalFields.allow(place, seen) && !(refused && place.equals("error.param"))) {
            facts.put(place, folded(place, seen));
          }
        });
    facts.values().removeIf(String::isEmpty);
    if (thinks || probe.free().contains(Free.ENDING)) {
      freeEnding(facts);
    }
    if (thinks) {
      facts.remove("JSON answer");
    }
    if (probe.free().contains(Free.CALLS)) {
      facts.computeIfPresent(
          "choices[].message.tool_calls", (_, seen) -> seen.replaceAll("list of \\d+", "list"));
    }
    return facts;
  }

  private static String folded(String place, String seen) {
    if (place.startsWith("chunk.choices[].delta.") || place.equals("chunk.choices[].text")) {
      Set<String> said = new TreeSet<>(Forms.of(seen));
      said.removeAll(Set.of("null", "empty string", Shape.ABSENT));
      return String.join(" or ", said);
    }
    if (place.equals("chunk.choices")) {
      return "list";
    }
    if (place.equals("data[].embedding[]")) {
      return "number"; // Of a vector's numbers some may be whole.
    }
    if (place.endsWith(".bytes")) {
      return seen.equals("list") || seen.equals("null") ? "list or null" : seen;
    }
    if (place.endsWith(".bytes[]")) {
      return "";
    }
    if (place.endsWith(".logprob")) {
      return seen.replaceAll("(negative )?integer", "number")
          .replaceAll("(number or )+number", "number");
    }
    return seen;
  }

  /** Stopped by itself or cut by the limit: both are one. */
  private static void freeEnding(Map<String, String> facts) {
    facts.replaceAll((place, seen) -> {
      if (place.endsWith("choices[].finish_reason")) {
        Set<String> reasons = new TreeSet<>(Forms.of(seen));
        return reasons.removeAll(Set.of("\"stop\"", "\"length\""))
            ? String.join(" or ", reasons) + " stop or length"
            : seen;
      }
      if (place.equals("JSON answer") && seen.equals("cut by the limit")) {
        return "an object";
      }
      return seen;
    });
    if (!facts.getOrDefault("reasoning", "none").equals("none")) {
      facts.remove("answer");
      facts.remove("choices[].message.content");
      facts.remove("chunk.choices[].delta.content");
      facts.computeIfPresent("order", (_, seen) -> seen.replace("content… ", ""));
    }
  }

  private static boolean thinks(Shape shape) {
    return !Set.of("none", Shape.ABSENT).contains(shape.seen("reasoning"));
  }

  private static String calls(Shape shape) {
    return shape.seen("answer").contains("calls") ? "calls" : "none";
  }

  /** Of two answers of which one calls a tool, only what is around the answer is compared. */
  private static void forgetAnswer(Map<String, String> facts) {
    facts
        .keySet()
        .removeIf(place ->
            Set.of("answer", "order", "choices[].finish_reason").contains(place)
                || place.startsWith("call")
                || place.contains(".tool_calls")
                || place.endsWith(".content"));
  }
}
