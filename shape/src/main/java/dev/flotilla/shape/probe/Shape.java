package dev.flotilla.shape.probe;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * The structure of one reply with its values taken out, as facts in the order in which they matter.
 *
 * <p>A fact has a name and what was seen. Names with a dot or bracket, or one word of the API, are
 * places in the reply's JSON ({@code choices[].message.content}; {@code chunk.…} in the events of a
 * stream), and what was seen there are forms: {@code string}, {@code empty string}, {@code
 * integer}, {@code number}, {@code boolean}, {@code null}, {@code object}, {@code list}, {@code
 * list of 2}, or the value itself in quotes where it must be equal everywhere; several are joined
 * by {@code or}. Other names say what follows from the whole reply: the order of events, where the
 * reasoning lies, whether the usage adds up.
 *
 * <p>What a server chose is cut and made printable, and there are only so many facts: a shape is
 * small whatever was sent.
 */
public final class Shape {
  /** What is seen of a fact that a shape has not. */
  public static final String ABSENT = "absent";

  private final SequencedMap<String, String> facts;

  /** Takes the facts in the map's order. */
  public Shape(Map<String, String> facts) {
    this.facts = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(facts));
  }

  public SequencedMap<String, String> facts() {
    return facts;
  }

  public Optional<String> fact(String name) {
    return Optional.ofNullable(facts.get(name));
  }

  /** What was seen of it; {@value #ABSENT} where nothing was. */
  public String seen(String name) {
    return facts.getOrDefault(name, ABSENT);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Shape shape && facts.equals(shape.facts);
  }

  @Override
  public int hashCode() {
    return facts.hashCode();
  }

  /** A fact a line. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    facts.forEach((name, seen) -> text.append(name).append(": ").append(seen).append('\n'));
    return text.toString();
  }
}
