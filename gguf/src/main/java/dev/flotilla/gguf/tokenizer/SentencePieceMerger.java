package dev.flotilla.gguf.tokenizer;

import dev.flotilla.gguf.StringTable;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;

/**
 * SentencePiece's byte-pair encoding: no words; of all pairs of neighbours that together are a
 * token, the one with the highest score is joined until none is left. Blanks are written as U+2581;
 * a character that is no token becomes its bytes.
 *
 * <p>Joined pairs are tokens, so two neighbours whose bytes stand side by side in no token are
 * never joined. The text is cut at such places first: what is left are words mostly, and a queue
 * for a word stays in the processor's cache where one for a whole message does not.
 */
final class SentencePieceMerger implements Merger {
  /** U+2581, which stands for a blank. */
  private static final byte[] BLANK = "▁".getBytes(StandardCharsets.UTF_8);

  /** A queue for longer words is not kept. */
  private static final int KEPT_SYMBOLS = 1 << 16;

  private final TokenTable tokens;
  private final float[] scores;
  private final boolean blankBefore;
  private final int[] bytes = new int[256];

  /** The pairs of bytes that stand side by side in some token. */
  private final BitSet neighbours = new BitSet(1 << 16);

  /**
   * @param blankBefore whether a text begins with a blank that is not there
   * @param unknown the token of a byte that is no token
   */
  SentencePieceMerger(TokenTable tokens, float[] scores, boolean blankBefore, int unknown) {
    this.tokens = tokens;
    this.scores = scores;
    this.blankBefore = blankBefore;
    for (int b = 0; b < 256; b++) {
      int token = tokens.find("<0x%02X>".formatted(b).getBytes(StandardCharsets.UTF_8));
      if (token == TokenTable.NONE) {
        token = tokens.find(new byte[] {(byte) b});
      }
      bytes[b] = token == TokenTable.NONE ? unknown : token;
    }
    StringTable texts = tokens.strings();
    for (int i = 0; i < texts.size(); i++) {
      for (int at = texts.start(i) + 1; at < texts.end(i); at++) {
        neighbours.set(pair(texts.bytes(), at));
      }
    }
  }

  /** The byte at a place and the one before it. */
  private static int pair(byte[] text, int at) {
    return (text[at - 1] & 0xff) << 8 | (text[at] & 0xff);
  }

  @Override
  public void tokenize(byte[] raw, int from, int to, boolean afterSpecial, IntList out) {
    byte[] text = escaped(raw, from, to, blankBefore && afterSpecial);
    MergeQueue queue = new MergeQueue();
    int start = 0;
    for (int at = 0; at < text.length; ) {
      at += characterLength(text, at);
      if (at == text.length || !neighbours.get(pair(text, at))) {
        word(text, start, at, queue, out);
        start = at;
      }
    }
  }

  private void word(byte[] text, int from, int to, MergeQueue queue, IntList out) {
    queue.clear();
    for (int at = from; at < to; at += characterLength(text, at)) {
      queue.add(0, at);
    }
    for (int i = 0; i + 1 < queue.size(); i++) {
      queuePair(queue, i, text, to);
    }
    for (int left = queue.poll(); left >= 0; left = queue.poll()) {
      queue.join(left, 0);
      queuePair(queue, left, text, to);
      if (queue.before(left) >= 0) {
        queuePair(queue, queue.before(left), text, to);
      }
    }
    for (int i = 0; i >= 0; i = queue.next(i)) {
      int end = end(queue, i, to);
      int token = tokens.find(text, queue.start[i], end);
      if (token != TokenTable.NONE) {
        out.add(token);
      } else {
        for (int b = queue.start[i]; b < end; b++) {
          out.add(bytes[text[b] & 0xff]);
        }
      }
    }
    queue.trim(KEPT_SYMBOLS);
  }

  private static int end(MergeQueue queue, int symbol, int to) {
    int next = queue.next(symbol);
    return next < 0 ? to : queue.start[next];
  }

  private void queuePair(MergeQueue queue, int left, byte[] text, int to) {
    int right = queue.next(left);
    int token =
        right < 0 ? TokenTable.NONE : tokens.find(text, queue.start[left], end(queue, right, to));
    if (token == TokenTable.NONE) {
      queue.forget(left);
    } else {
      queue.queue(left, rank(scores[token]));
    }
  }

  /** A number that is the smaller the higher the score. */
  private static int rank(float score) {
    int bits = Float.floatToIntBits(score == 0 ? 0f : score); // -0.0 equals 0.0
    return bits >= 0 ? ~bits : bits & Integer.MAX_VALUE;
  }

  private static int characterLength(byte[] text, int at) {
    int first = text[at] & 0xff;
    int length = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    return Math.min(length, text.length - at);
  }

  private static byte[] escaped(byte[] raw, int from, int to, boolean blankBefore) {
    int blanks = blankBefore ? 1 : 0;
    for (int i = from; i < to; i++) {
      blanks += raw[i] == ' ' ? 1 : 0;
    }
    byte[] text = new byte[to - from + blanks * (BLANK.length - 1) + (blankBefore ? 1 : 0)];
    int at = 0;
    if (blankBefore) {
      System.arraycopy(BLANK, 0, text, 0, BLANK.length);
      at = BLANK.length;
    }
    for (int i = from; i < to; i++) {
      if (raw[i] == ' ') {
        System.arraycopy(BLANK, 0, text, at, BLANK.length);
        at += BLANK.length;
      } else {
        text[at++] = raw[i];
      }
    }
    return text;
  }
}
