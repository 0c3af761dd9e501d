package dev.flotilla.bench.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/**
 * Words that a server's tokenizer counts as one token each when a space stands before them, so that
 * the tokens of a text made of them add up and are known without asking.
 *
 * <p>Common English words are whole tokens in the vocabulary of nearly every model. All are counted
 * in one question; where the sum is off, halves are, until what does not add up is left out.
 *
 * @param opener the first word of every text: it has no space before it, which is another token
 * @param openerTokens tokens of that
 * @param words each one token, in their order in the list
 */
record WordPool(String opener, int openerTokens, List<String> words) {
  private static final String OPENER = "The";
  private static final String LIST = "words.txt";

  /** So few words that do not add up are left out together, to save questions. */
  private static final int GROUP = 4;

  /** With fewer words texts would repeat each other. */
  private static final int FEWEST = 64;

  private static final int THINNED_BY = 6;

  private static final int QUESTIONS_MAX = 512;
  private static final int GENERATED_QUESTIONS_MAX = 24;

  WordPool {
    words = List.copyOf(words);
  }

  /** Every word for one token, unasked. */
  static WordPool unmeasured() {
    return new WordPool(OPENER, 1, list());
  }

  /**
   * The words that add up.
   *
   * @return empty where too few do: a tokenizer of another kind, such as one of bytes
   * @throws IOException where the server does not count
   */
  static Optional<WordPool> measured(Tokenizer tokenizer) throws IOException {
    List<String> candidates = tokenizer.cheap() ? list() : thinned();
    int opener = tokenizer.count(OPENER);
    Set<String> whole = new HashSet<>();
    List<List<String>> open = new ArrayList<>(List.of(candidates));
    int questionsMax = tokenizer.cheap() ? QUESTIONS_MAX : GENERATED_QUESTIONS_MAX;
    for (int asked = 0; !open.isEmpty() && asked < questionsMax; asked++) {
      List<String> group = open.removeLast();
      if (tokenizer.count(OPENER + " " + String.join(" ", group)) == opener + group.size()) {
        whole.addAll(group);
      } else if (group.size() > GROUP) {
        open.add(group.subList(0, group.size() / 2));
        open.add(group.subList(group.size() / 2, group.size()));
      }
    }
    // In the list's order, so that a seed gives the same texts whatever was asked first.
    List<String> ordered = candidates.stream().filter(whole::contains).toList();
    return whole.size() < FEWEST
        ? Optional.empty()
        : Optional.of(new WordPool(OPENER, opener, ordered));
  }

  String draw(RandomGenerator random) {
    return words.get(random.nextInt(words.size()));
  }

  /** Fewer words, where the model itself has to read them to count them. */
  private static List<String> thinned() {
    List<String> all = list();
    return IntStream.range(0, all.size() / THINNED_BY)
        .mapToObj(i -> all.get(i * THINNED_BY))
        .toList();
  }

  private static List<String> list() {
    return List.of(new String(Resources.bytes(LIST), UTF_8).strip().split("\\s+"));
  }
}
