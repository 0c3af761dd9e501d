package dev.flotilla.gguf.tokenizer;

import dev.flotilla.gguf.StringTable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Byte-level byte-pair encoding: a splitter cuts the text into words, and within a word the pair
 * that comes first in the list of merges is joined until none is left.
 *
 * <p>Symbols have numbers: a token its own, and strings of the merges that are no tokens higher
 * ones. What such a symbol is written as in the end is found once, at the beginning.
 *
 * <p>Immutable but for the queue, which each thread has for itself.
 */
final class BytePairMerger implements Merger {
  /** A queue for longer words is not kept. */
  private static final int KEPT_SYMBOLS = 1 << 16;

  private final Splitters.Family family;
  private final Merges merges = new Merges();

  /** The symbol of each byte. */
  private final int[] bytes = new int[256];

  /** Of symbols that are no tokens, from the vocabulary's size on. */
  private final List<int[]> written = new ArrayList<>();

  private final int vocabularySize;
  private final TokenTable symbols;

  BytePairMerger(TokenTable tokens, StringTable mergeList, Splitters.Family family) {
    this.family = family;
    this.vocabularySize = tokens.strings().size();
    StringTable all = new StringTable();
    StringTable texts = tokens.strings();
    for (int i = 0; i < vocabularySize; i++) {
      all.add(texts.bytes(), texts.start(i), texts.end(i));
    }
    symbols = new TokenTable(all);
    for (int b = 0; b < 256; b++) {
      byte[] letter = ByteLetters.letter(b);
      bytes[b] = symbols.findOrAdd(letter, 0, letter.length);
    }
    for (int i = 0; i < mergeList.size(); i++) {
      addMerge(mergeList.get(i), i);
    }
    for (int symbol = vocabularySize; symbol < all.size(); symbol++) {
      written.add(written(all.get(symbol), tokens));
    }
  }

  private void addMerge(byte[] merge, int rank) {
    int blank = 1;
    while (blank < merge.length && merge[blank] != ' ') {
      blank++;
    }
    if (blank >= merge.length) {
      return;
    }
    int left = symbols.findOrAdd(merge, 0, blank);
    int right = symbols.findOrAdd(merge, blank + 1, merge.length);
    byte[] joined = new byte[merge.length - 1];
    System.arraycopy(merge, 0, joined, 0, blank);
    System.arraycopy(merge, blank + 1, joined, blank, merge.length - blank - 1);
    merges.add(left, right, rank, symbols.findOrAdd(joined, 0, joined.length));
  }

  /** A symbol that is no token is written as its bytes, as far as these are tokens. */
  private static int[] written(byte[] symbol, TokenTable tokens) {
    IntList list = new IntList();
    for (int i = 0; i < symbol.length; i++) {
      int token = tokens.find(symbol, i, i + 1);
      if (token != TokenTable.NONE) {
        list.add(token);
      }
    }
    return list.toArray();
  }

  @Override
  public void tokenize(byte[] text, int from, int to, boolean afterSpecial, IntList tokens) {
    String characters = new String(text, from, to - from, StandardCharsets.UTF_8);
    MergeQueue queue = new MergeQueue();
    int[] at = {from};
    family
        .splitter()
        .split(
            characters,
            0,
            characters.length(),
            (start, end) -> {
              int length = utf8Length(characters, start, end);
              word(text, at[0], at[0] + length, queue, tokens);
              at[0] += length;
            });
  }

  private static int utf8Length(String text, int from, int to) {
    int length = 0;
    for (int i = from; i < to; i++) {
      char c = text.charAt(i);
      // two surrogates make four bytes
      length += c < 0x80 ? 1 : c < 0x800 || Character.isSurrogate(c) ? 2 : 3;
    }
    return length;
  }

  private void word(byte[] text, int from, int to, MergeQueue queue, IntList tokens) {
    if (family.wholeWords()) {
      int whole = whole(text, from, to);
      if (whole != TokenTable.NONE) {
        tokens.add(whole);
        return;
      }
    }
    queue.clear();
    for (int i = from; i < to; i++) {
      queue.add(bytes[text[i] & 0xff], i);
    }
    for (int i = 0; i + 1 < queue.size(); i++) {
      queuePair(queue, i);
    }
    for (int left = queue.poll(); left >= 0; left = queue.poll()) {
      int slot = merges.find(queue.value[left], queue.value[queue.next(left)]);
      queue.join(left, merges.joined(slot));
      queuePair(queue, left);
      if (queue.before(left) >= 0) {
        queuePair(queue, queue.before(left));
      }
    }
    for (int i = to > from ? 0 : -1; i >= 0; i = queue.next(i)) {
      int symbol = queue.value[i];
      if (symbol < vocabularySize) {
        tokens.add(symbol);
      } else {
        tokens.addAll(written.get(symbol - vocabularySize));
      }
    }
    queue.trim(KEPT_SYMBOLS);
  }

  private void queuePair(MergeQueue queue, int left) {
    int right = queue.next(left);
    int slot = right < 0 ? -1 : merges.find(queue.value[left], queue.value[right]);
    if (slot < 0) {
      queue.forget(left);
    } else {
      queue.queue(left, merges.rank(slot));
    }
  }

  /** The token that a word is as a whole, as far as it is one. */
  private int whole(byte[] text, int from, int to) {
    if (to - from > symbols.longest()) {
      return TokenTable.NONE;
    }
    byte[] letters = new byte[2 * (to - from)];
    int length = 0;
    for (int i = from; i < to; i++) {
      int symbol = bytes[text[i] & 0xff];
      StringTable strings = symbols.strings();
      for (int j = strings.start(symbol); j < strings.end(symbol); j++) {
        letters[length++] = strings.bytes()[j];
      }
    }
    int found = symbols.find(letters, 0, length);
    return found < vocabularySize ? found : TokenTable.NONE;
  }
}
