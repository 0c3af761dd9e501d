package dev.flotilla.bench.dataset;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Texts of given numbers of tokens.
 *
 * <p>They are made of a {@link WordPool}'s words, whose tokens add up, and then counted: each where
 * there are few, a sample spread over them where there are many, each again where one of the sample
 * is off. One that is off is cut, between characters, to its length. Where counting is a request to
 * the model the texts themselves are not counted, as that would put them into the server's prefix
 * cache: others made alike are.
 *
 * <p>Each text has a generator of its own, made of the seed and its number: the first hundred texts
 * of a thousand are those of a run of a hundred. No two begin with the same three words after the
 * prefix that they are to share, as far as there are words and tokens enough.
 */
final class SyntheticTexts {
  private static final long PREFIX = -1;
  private static final int OPENING_WORDS = 3;
  private static final int REDRAWS_MAX = 32;
  private static final int FILLERS_MAX = 32;
  private static final List<String> FILLERS = List.of(" a", ".", "a", "\n");

  private final TokenizerSearch counter;
  private final long seed;
  private final DatasetLimits limits;
  private final List<String> notes = new ArrayList<>();
  private WordPool pool = WordPool.unmeasured();

  /** Whether the words of the pool add up. */
  private boolean additive;

  private SyntheticTexts(TokenizerSearch counter, long seed, DatasetLimits limits) {
    this.counter = counter;
    this.seed = seed;
    this.limits = limits;
  }

  /**
   * One text.
   *
   * @param tokens as they were counted, or added up; -1 where nobody counts
   */
  record Text(String text, int tokens) {}

  /**
   * The texts, and what should be known of them.
   *
   * @param notes one sentence each
   */
  record Made(List<Text> texts, List<String> notes) {}

  /**
   * Makes one text for each length.
   *
   * @param prefixTokens tokens that all texts begin with, beside their lengths
   * @throws IOException where the server stops counting
   */
  static Made make(
      TokenizerSearch counter, int prefixTokens, int[] lengths, long seed, DatasetLimits limits)
      throws IOException {
    return new SyntheticTexts(counter, seed, limits).make(prefixTokens, lengths);
  }

  private Made make(int prefixTokens, int[] lengths) throws IOException {
    Optional<Tokenizer> tokenizer = counter.tokenizer();
    if (tokenizer.isPresent()) {
      Optional<WordPool> measured = WordPool.measured(tokenizer.get());
      pool = measured.orElse(pool);
      additive = measured.isPresent();
    }
    String prefix = prefix(prefixTokens);
    List<Text> texts = drafts(prefix, prefixTokens, lengths, 0);
    if (tokenizer.isEmpty()) {
      notes.add("Prompts' lengths are in words, not tokens: " + counter.words() + ".");
      return new Made(texts.stream().map(text -> new Text(text.text(), -1)).toList(), notes);
    }
    return tokenizer.get().cheap()
        ? checked(tokenizer.get(), texts)
        : sampled(tokenizer.get(), prefix, prefixTokens, lengths, texts);
  }

  private String prefix(int tokens) throws IOException {
    if (tokens == 0) {
      return "";
    }
    String text = text(generator(PREFIX), "", Math.max(1, tokens - pool.openerTokens() + 1));
    Optional<Tokenizer> cheap = counter.tokenizer().filter(Tokenizer::cheap);
    return cheap.isEmpty() ? text : fitted(cheap.get(), new Text(text, tokens)).text();
  }

  private List<Text> drafts(String prefix, int prefixTokens, int[] lengths, long salt) {
    Set<String> openings = new HashSet<>();
    List<Text> drafts = new ArrayList<>(lengths.length);
    for (int i = 0; i < lengths.length; i++) {
      int tokens = prefixTokens + lengths[i];
      int words = prefix.isEmpty() ? Math.max(1, tokens - pool.openerTokens() + 1) : lengths[i];
      SplittableRandom random = generator(salt + i);
      String text = text(random, prefix, words);
      for (int again = 0; again < REDRAWS_MAX && !openings.add(opening(text, prefix)); again++) {
        text = text(random, prefix, words);
      }
      drafts.add(new Text(text, tokens));
    }
    return drafts;
  }

  private SplittableRandom generator(long number) {
    return Seeds.generator(seed, number);
  }

  /** The prefix, or the opener as the first word, and words from the pool. */
  private String text(SplittableRandom random, String prefix, int words) {
    StringBuilder text = new StringBuilder(prefix.length() + 7 * words).append(prefix);
    int left = words;
    if (prefix.isEmpty()) {
      text.append(pool.opener());
      left--;
    }
    for (; left > 0; left--) {
      text.append(' ').append(pool.draw(random));
    }
    return text.toString();
  }

  private static String opening(String text, String prefix) {
    int end = prefix.length();
    int words = prefix.isEmpty() ? OPENING_WORDS : OPENING_WORDS - 1;
    for (int i = 0; i <= words && end >= 0; i++) {
      end = text.indexOf(' ', end + 1);
    }
    return end < 0 ? text.substring(prefix.length()) : text.substring(prefix.length(), end);
  }

  private Made checked(Tokenizer tokenizer, List<Text> texts) throws IOException {
    List<Text> sample = additive ? spread(texts, limits.checkedMax()) : List.of();
    List<Boolean> right =
        Counting.each(sample, text -> tokenizer.count(text.text()) == text.tokens());
    boolean allAddUp = additive && !right.contains(false);
    List<Text> exact = allAddUp ? texts : Counting.each(texts, text -> fitted(tokenizer, text));
    long off =
        IntStream.range(0, texts.size())
            .filter(i -> exact.get(i).tokens() != texts.get(i).tokens())
            .count();
    notes.add("Tokens of prompts are counted by " + counter.words() + ".");
    if (off > 0) {
      notes.add(
          off + " of " + texts.size() + " prompts miss their length: no text of it was found.");
    }
    return new Made(exact, notes);
  }

  /** Texts that no run sends are counted in the place of those that it does. */
  private Made sampled(
      Tokenizer tokenizer, String prefix, int prefixTokens, int[] lengths, List<Text> texts)
      throws IOException {
    int[] ends = {Arrays.stream(lengths).min().orElse(1), Arrays.stream(lengths).max().orElse(1)};
    boolean exact = additive;
    for (Text other :
        drafts(prefix.isEmpty() ? "" : otherPrefix(prefixTokens), prefixTokens, ends, 1L << 40)) {
      exact = exact && tokenizer.count(other.text()) == other.tokens();
    }
    notes.add(
        exact
            ? "Tokens of prompts are added up; words are counted by " + counter.words() + "."
            : "Prompts' lengths are in words, not tokens: this server's tokens can't be added up.");
    boolean known = exact;
    return new Made(
        texts.stream().map(text -> known ? text : new Text(text.text(), -1)).toList(), notes);
  }

  private String otherPrefix(int tokens) {
    return text(generator(PREFIX - 1), "", Math.max(1, tokens - pool.openerTokens() + 1));
  }

  private static List<Text> spread(List<Text> texts, int most) {
    if (texts.size() <= most) {
      return texts;
    }
    return IntStream.range(0, most)
        .mapToObj(i -> texts.get((int) ((long) i * texts.size() / most)))
        .toList();
  }

  /** The text made to have its tokens; the nearest that was found below where none has. */
  private Text fitted(Tokenizer tokenizer, Text draft) throws IOException {
    String text = draft.text();
    int target = draft.tokens();
    SplittableRandom random = Seeds.generator(seed, text.hashCode());
    int count = tokenizer.count(text);
    while (count < target) {
      text = text + " " + text(random, " ", target - count).strip();
      count = tokenizer.count(text);
    }
    if (count == target) {
      return new Text(text, target);
    }
    int below = 0;
    int above = text.length();
    while (above - below > 1) {
      int middle = (below + above) / 2;
      int there = tokenizer.count(text.substring(0, middle));
      if (there == target) {
        return new Text(text.substring(0, middle), target);
      }
      if (there < target) {
        below = middle;
      } else {
        above = middle;
      }
    }
    return filled(tokenizer, text.substring(0, below), target);
  }

  private static Text filled(Tokenizer tokenizer, String text, int target) throws IOException {
    Text best = new Text(text, tokenizer.count(text));
    for (int i = 0; i < FILLERS_MAX && best.tokens() < target; i++) {
      String longer = best.text() + FILLERS.get(i % FILLERS.size());
      int count = tokenizer.count(longer);
      if (count <= target) {
        best = new Text(longer, count);
      }
    }
    return best;
  }
}
