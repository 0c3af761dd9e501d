package dev.flotilla.hub.spec;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/**
 * One value of the file with its place. Each reading method answers with the value, or adds a
 * problem at the value's line and answers with nothing, so that the reader goes on to the next.
 */
record Value(Node node, String path, Problems problems) {

  private static final Pattern DIGITS = Pattern.compile("[0-9]{1,18}");
  private static final Pattern DECIMAL = Pattern.compile("[0-9]{1,6}(?:\\.[0-9]{1,4})?");

  void problem(String message) {
    problems.add(node, path, message);
  }

  /** The text of a scalar as it stands, whatever YAML takes it for; empty for what is no scalar. */
  Optional<String> raw() {
    return node instanceof ScalarNode scalar && !scalar.getTag().equals(Tag.NULL)
        ? Optional.of(scalar.getValue())
        : Optional.empty();
  }

  /** How a message names the value: a scalar in backticks, else what it is. */
  String shown() {
    return switch (node) {
      case ScalarNode scalar when scalar.getTag().equals(Tag.NULL) -> "nothing";
      case ScalarNode scalar -> Problems.shown(scalar.getValue());
      case MappingNode mapping -> "a map";
      default -> "a list";
    };
  }

  Optional<String> text(int charsMax) {
    Optional<String> raw = raw();
    if (raw.isEmpty() || raw.get().isBlank()) {
      problem("text is needed here, not " + (raw.isEmpty() ? shown() : "an empty one"));
      return Optional.empty();
    }
    String text = raw.get();
    if (text.length() > charsMax) {
      problem("it has %d characters; at most %d are allowed".formatted(text.length(), charsMax));
      return Optional.empty();
    }
    if (text.codePoints().anyMatch(Value::unprintable)) {
      problem("it holds a control character, half a character or more than one line");
      return Optional.empty();
    }
    return raw;
  }

  private static boolean unprintable(int codePoint) {
    return Character.isISOControl(codePoint)
        || (Character.isBmpCodePoint(codePoint) && Character.isSurrogate((char) codePoint));
  }

  OptionalInt number(int least, int most) {
    String text = raw().orElse("");
    if (text.equals("auto")) {
      problem("`auto` is not supported yet; give a number");
      return OptionalInt.empty();
    }
    boolean plain = node instanceof ScalarNode scalar && scalar.isPlain();
    if (!plain || !DIGITS.matcher(text).matches()) {
      problem(
          "a whole number from %d to %d is needed here, not %s".formatted(least, most, shown()));
      return OptionalInt.empty();
    }
    long number = Long.parseLong(text);
    if (number < least || number > most) {
      problem("%s is out of range: %d to %d".formatted(text, least, most));
      return OptionalInt.empty();
    }
    return OptionalInt.of((int) number);
  }

  /** A number with at most four decimals. */
  OptionalDouble decimal(double least, double most) {
    String text = raw().orElse("");
    boolean plain = node instanceof ScalarNode scalar && scalar.isPlain();
    if (!plain || !DECIMAL.matcher(text).matches()) {
      problem("a number from %s to %s is needed here, not %s".formatted(least, most, shown()));
      return OptionalDouble.empty();
    }
    double number = Double.parseDouble(text);
    if (number < least || number > most) {
      problem("%s is out of range: %s to %s".formatted(text, least, most));
      return OptionalDouble.empty();
    }
    return OptionalDouble.of(number);
  }

  /** A number, or the word {@code auto} for {@code automatic}. */
  OptionalInt numberOrAuto(int least, int most, int automatic) {
    String text = raw().orElse("");
    boolean plain = node instanceof ScalarNode scalar && scalar.isPlain();
    if (text.equals("auto")) {
      return OptionalInt.of(automatic);
    }
    if (!plain || !DIGITS.matcher(text).matches()) {
      problem(
          "a whole number from %d to %d, or `auto`, is needed here, not %s"
              .formatted(least, most, shown()));
      return OptionalInt.empty();
    }
    return number(least, most);
  }

  Optional<Boolean> truth() {
    String text = raw().orElse("");
    if (text.equals("true") || text.equals("false")) {
      return Optional.of(text.equals("true"));
    }
    problem("`true` or `false` is needed here, not " + shown());
    return Optional.empty();
  }

  /**
   * One of some words.
   *
   * @param later words that the language has and nothing enforces yet
   */
  Optional<String> word(List<String> words, List<String> later) {
    String text = raw().orElse("");
    if (words.contains(text)) {
      return Optional.of(text);
    }
    String choice = "`" + String.join("`, `", words) + "`";
    if (later.contains(text)) {
      problem("`" + text + "` is not supported yet; choose " + choice);
    } else {
      problem(
          shown()
              + " is not one of "
              + choice
              + Words.didYouMean(text.toLowerCase(Locale.ROOT), words));
    }
    return Optional.empty();
  }

  /** The value as a map, with a reader for its keys. */
  Optional<Section> section() {
    if (node instanceof MappingNode mapping) {
      return Optional.of(Section.of(mapping, path, problems));
    }
    problem("a map is needed here, not " + shown());
    return Optional.empty();
  }

  /** The items of a list; a value that is no list counts as the only item of one. */
  List<Value> itemsOrOne(int most) {
    return node instanceof SequenceNode ? items(most) : List.of(this);
  }

  /** The items of a list that must not be empty. */
  List<Value> items(int most) {
    if (!(node instanceof SequenceNode sequence)) {
      problem("a list is needed here, not " + shown());
      return List.of();
    }
    List<Node> nodes = sequence.getValue();
    if (nodes.isEmpty()) {
      problem("the list is empty");
    } else if (nodes.size() > most) {
      problem("the list has %d items; at most %d are allowed".formatted(nodes.size(), most));
      return List.of();
    }
    List<Value> items = new ArrayList<>();
    for (Node item : nodes) {
      items.add(new Value(item, path + "[" + items.size() + "]", problems));
    }
    return items;
  }
}
