package dev.flotilla.bench.dataset;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import tools.jackson.databind.JsonNode;

/**
 * Texts with open words: {@code {person}} stands for one of the words of that kind, {@code {Thing}}
 * for one that begins with a capital. A word may have open words itself. Other braces stay as they
 * are. Immutable.
 */
final class Templates {
  private final Map<String, List<String>> words = new HashMap<>();

  /**
   * @param words an object: each kind with an array of its words
   */
  Templates(JsonNode words) {
    words.properties().forEach(kind -> this.words.put(kind.getKey(), strings(kind.getValue())));
  }

  List<String> words(String kind) {
    return words.getOrDefault(kind, List.of());
  }

  /** One of the templates, with its open words filled in. */
  String pick(List<String> templates, SplittableRandom random) {
    return expanded(templates.get(random.nextInt(templates.size())), random);
  }

  /** The template with its open words filled in. */
  String expanded(String template, SplittableRandom random) {
    StringBuilder text = new StringBuilder(2 * template.length());
    int from = 0;
    for (int open = template.indexOf('{'); open >= 0; open = template.indexOf('{', from)) {
      int close = template.indexOf('}', open);
      String kind = close < 0 ? "" : template.substring(open + 1, close);
      String lower = kind.toLowerCase(Locale.ROOT);
      if (!isKind(lower)) {
        text.append(template, from, open + 1);
        from = open + 1;
        continue;
      }
      String word = word(lower, random);
      text.append(template, from, open);
      if (endsWithArticle(text) && "aeiou".indexOf(word.charAt(0)) >= 0) {
        text.insert(text.length() - 1, 'n');
      }
      text.append(kind.equals(lower) ? word : capitalised(word));
      from = close + 1;
    }
    return text.append(template, from, template.length()).toString();
  }

  /** A word of that kind: one of the listed, or a number of the kinds that are not listed. */
  String word(String kind, SplittableRandom random) {
    return switch (kind) {
      case "number" -> Integer.toString(random.nextInt(100, 10_000));
      case "small" -> Integer.toString(random.nextInt(2, 61));
      case "day" -> Integer.toString(random.nextInt(1, 29));
      case "time" -> "%02d:%02d".formatted(random.nextInt(7, 20), 5 * random.nextInt(12));
      default -> pick(words(kind), random);
    };
  }

  private boolean isKind(String kind) {
    return words.containsKey(kind)
        || switch (kind) {
          case "number", "small", "day", "time" -> true;
          default -> false;
        };
  }

  private static boolean endsWithArticle(StringBuilder text) {
    int end = text.length();
    return end >= 2
        && text.charAt(end - 1) == ' '
        && text.charAt(end - 2) == 'a'
        && (end == 2 || text.charAt(end - 3) == ' ');
  }

  private static String capitalised(String word) {
    return word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1);
  }

  static List<String> strings(JsonNode array) {
    return array.valueStream().map(JsonNode::asString).toList();
  }
}
