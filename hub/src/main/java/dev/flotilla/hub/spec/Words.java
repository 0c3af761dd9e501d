package dev.flotilla.hub.spec;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds the word that a person may have meant. */
final class Words {

  private static final int LENGTH_MAX = 40;

  private Words() {}

  /** The nearest of {@code known}, where it is near enough to be meant. */
  static Optional<String> nearest(String word, Collection<String> known) {
    if (word.length() > LENGTH_MAX) {
      return Optional.empty();
    }
    record Candidate(String word, int distance) {}
    return known.stream()
        .map(one -> new Candidate(one, distance(word, one)))
        .filter(one -> one.distance() <= Math.max(1, one.word().length() / 3))
        .min(Comparator.comparingInt(Candidate::distance).thenComparing(Candidate::word))
        .map(Candidate::word);
  }

  /** "; did you mean `x`?", or nothing where no word is near. */
  static String didYouMean(String word, Collection<String> known) {
    return nearest(word, known).map(near -> "; did you mean `" + near + "`?").orElse("");
  }

  /** Single characters to insert, delete, replace or swap (optimal string alignment). */
  private static int distance(String a, String b) {
    int[][] d = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        if (i == 0 || j == 0) {
          d[i][j] = i + j;
          continue;
        }
        int replace = d[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        d[i][j] = Math.min(replace, 1 + Math.min(d[i - 1][j], d[i][j - 1]));
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
        }
      }
    }
    return d[a.length()][b.length()];
  }
}
