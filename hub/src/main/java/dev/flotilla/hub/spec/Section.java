package dev.flotilla.hub.spec;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;

/**
 * A map of the file while it is read. Keys are taken one after the other; {@link #end} then says
 * what nobody took, so that no key is ever ignored. A key that is there twice is a problem at the
 * second place.
 */
final class Section {

  private final MappingNode node;
  private final String path;
  private final Problems problems;
  private final Map<String, NodeTuple> entries;
  private final Set<String> known = new LinkedHashSet<>();

  private Section(
      MappingNode node, String path, Problems problems, Map<String, NodeTuple> entries) {
    this.node = node;
    this.path = path;
    this.problems = problems;
    this.entries = entries;
  }

  static Section of(MappingNode node, String path, Problems problems) {
    Map<String, NodeTuple> entries = new LinkedHashMap<>();
    for (NodeTuple entry : node.getValue()) {
      if (!(entry.getKeyNode() instanceof ScalarNode key)) {
        problems.add(entry.getKeyNode(), path, "a key is a word, not a list or map");
        continue;
      }
      NodeTuple before = entries.putIfAbsent(key.getValue(), entry);
      if (before != null) {
        problems.add(
            key,
            path,
            "%s is here twice, first on line %d"
                .formatted(Problems.shown(key.getValue()), line(before.getKeyNode())));
      }
    }
    return new Section(node, path, problems, entries);
  }

  private static int line(Node node) {
    return node.getStartMark().map(mark -> mark.getLine() + 1).orElse(1);
  }

  boolean isEmpty() {
    return entries.isEmpty();
  }

  void problem(String message) {
    problems.add(node, path, message);
  }

  /** The value of a key that may be missing. */
  Optional<Value> take(String key) {
    known.add(key);
    return Optional.ofNullable(entries.get(key)).map(entry -> value(key, entry.getValueNode()));
  }

  /** The value of a key that must be there. */
  Optional<Value> need(String key, String example) {
    Optional<Value> value = take(key);
    if (value.isEmpty()) {
      problem("`%s` is missing, such as `%s: %s`".formatted(key, key, example));
    }
    return value;
  }

  /** All keys in the order of the file with their values, for a map whose keys are names. */
  Map<String, Value> takeAll() {
    Map<String, Value> values = new LinkedHashMap<>();
    entries.forEach((key, entry) -> values.put(key, value(key, entry.getValueNode())));
    known.addAll(entries.keySet());
    return values;
  }

  /** The place of a key, for a problem with the key itself. */
  Value key(String key) {
    NodeTuple entry = entries.get(key);
    return value(key, entry == null ? node : entry.getKeyNode());
  }

  private Value value(String key, Node value) {
    String shown = key.matches("[A-Za-z0-9-][A-Za-z0-9._:/@-]{0,63}") ? key : Problems.shown(key);
    return new Value(value, path.isEmpty() ? shown : path + "." + shown, problems);
  }

  /**
   * Says which keys nobody took.
   *
   * @param later keys that the language has and nothing enforces yet
   */
  void end(List<String> later) {
    Set<String> unknown = new HashSet<>(entries.keySet());
    unknown.removeAll(known);
    for (String key : entries.keySet()) {
      if (!unknown.contains(key)) {
        continue;
      }
      Value place = key(key);
      if (later.contains(key)) {
        place.problem("`" + key + "` is not supported yet; leave it out");
      } else {
        problems.add(place.node(), path, "unknown key " + Problems.shown(key) + meant(key));
      }
    }
  }

  private String meant(String key) {
    String near = Words.didYouMean(key, known);
    return near.isEmpty() ? "; known here: `" + String.join("`, `", known) + "`" : near;
  }
}
