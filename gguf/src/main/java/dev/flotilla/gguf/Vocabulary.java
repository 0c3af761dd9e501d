package dev.flotilla.gguf;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Finds how many bytes of text one token can stand for, while the header is read.
 *
 * <p>The number is used as "so many bytes of prompt are at least so many tokens", so it may be too
 * large and never too small. A byte-level vocabulary ({@code gpt2}) writes every byte of an
 * ordinary token as one character; its special tokens, and every token of another vocabulary, stand
 * there as they are. Vocabularies whose tokenizer turns a whole unknown word into one token, or
 * drops text, have no such bound.
 */
final class Vocabulary {
  static final String TOKENS_KEY = "tokenizer.ggml.tokens";
  static final String TYPES_KEY = "tokenizer.ggml.token_type";

  private static final int NORMAL = 1;

  private int tokens;
  private int longestAsWritten;
  private int longestAsCharacters;

  /**
   * Pairs of a token's index and its bytes as written, for the tokens where these differ from its
   * characters.
   */
  private int[] wideTokens = new int[64];

  private int wideCount;
  private int wideSeen;
  private boolean typesSeen;
  private int longestSpecial;

  void token(String token) {
    int characters = token.codePointCount(0, token.length());
    int bytes = token.getBytes(StandardCharsets.UTF_8).length;
    longestAsWritten = Math.max(longestAsWritten, bytes);
    longestAsCharacters = Math.max(longestAsCharacters, characters);
    if (bytes != characters) {
      if (wideCount + 2 > wideTokens.length) {
        wideTokens = Arrays.copyOf(wideTokens, wideTokens.length * 2);
      }
      wideTokens[wideCount++] = tokens;
      wideTokens[wideCount++] = bytes;
    }
    tokens++;
  }

  /** The type of token {@code index}; called with growing indexes. */
  void type(long index, int type) {
    typesSeen = true;
    while (wideSeen < wideCount && wideTokens[wideSeen] < index) {
      wideSeen += 2;
    }
    if (type != NORMAL && wideSeen < wideCount && wideTokens[wideSeen] == index) {
      longestSpecial = Math.max(longestSpecial, wideTokens[wideSeen + 1]);
    }
  }

  /**
   * The bound for a vocabulary of this kind, 0 where there is none.
   *
   * @param kind {@code tokenizer.ggml.model}
   */
  int longestTokenBytes(String kind) {
    return switch (kind) {
      case "gpt2" -> typesSeen ? Math.max(longestAsCharacters, longestSpecial) : longestAsWritten;
      case "llama", "rwkv" -> longestAsWritten;
      default -> 0;
    };
  }
}
