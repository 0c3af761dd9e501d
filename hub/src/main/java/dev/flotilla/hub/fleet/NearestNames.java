package dev.flotilla.hub.fleet;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Names that a mistyped one may have meant. */
final class NearestNames {
  private static final int SUGGESTED_MAX = 3;
  private static final int COMPARED_CHARS_MAX = 300;

  private NearestNames() {}

  /** At most three names, best first: those that contain the word, and those a few typos away. */
  static List<String> of(String word, Collection<String> names) {
    if (word.isEmpty() || word.length() > COMPARED_CHARS_MAX) {
      return List.of();
    }
    String wanted = word.toLowerCase(Locale.ROOT);
    record Near(String name, int distance) {}
    return names.stream()
        .map(name -> {
          String candidate = name.toLowerCase(Locale.ROOT);
          int edits = edits(wanted, candidate);
          return new Near(name, candidate.contains(wanted) ? Math.min(edits, 1) : edits);
        })
        .filter(near -> near.distance() <= Math.max(2, word.length() / 3))
        .sorted(Comparator.comparingInt(Near::distance).thenComparing(Near::name))
        .limit(SUGGESTED_MAX)
        .map(Near::name)
        .toList();
  }

  /** Insertions, deletions and substitutions from one word to the other (Levenshtein). */
  private static int edits(String from, String to) {
    int[] row = new int[to.length() + 1];
    for (int j = 0; j <= to.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= from.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= to.length(); j++) {
        int substituted = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(substituted, Math.min(row[j], row[j - 1]) + 1);
      }
    }
    return row[to.length()];
  }
}
