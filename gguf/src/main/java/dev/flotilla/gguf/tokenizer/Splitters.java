package dev.flotilla.gguf.tokenizer;

import java.util.Optional;
import java.util.function.IntPredicate;

/**
 * The splitters of the families that are known, by the word under {@code tokenizer.ggml.pre}.
 *
 * <p>Source: the expressions in {@code llama-vocab.cpp} and how {@code unicode.cpp} applies them;
 * tests hold these to llama.cpp's own tokens.
 */
final class Splitters {
  private Splitters() {}

  /**
   * What a word under {@code tokenizer.ggml.pre} stands for.
   *
   * @param wholeWords whether a word that is a token is not merged any more
   * @param addsBegin whether texts begin with the token of a text's begin, unless the file says
   *     otherwise
   */
  record Family(Splitter splitter, boolean wholeWords, boolean addsBegin) {}

  /** The family of that name, empty where it is unknown. */
  static Optional<Family> of(String name) {
    return switch (name) {
      case "", "default" ->
          family(
              runsOf(Splitters::isDefaultSign)
                  .then(new ClassicSplitter())
                  .then(runsOf(Characters::isNumber))
                  .then(Splitters::digitTriples));
      case "gpt-2",
          "phi-2",
          "jina-es",
          "jina-de",
          "gigachat",
          "jina-v2-es",
          "jina-v2-de",
          "a.x-4.0",
          "mellum",
          "modern-bert",
          "mpt",
          "olmo",
          "jais",
          "trillion",
          "granite-docling",
          "exaone4" ->
          family(new ClassicSplitter());
      case "smollm",
          "starcoder",
          "refact",
          "command-r",
          "codeshell",
          "exaone",
          "minerva-7b",
          "mellum2" ->
          family(eachOf(Characters::isNumber).then(new ClassicSplitter()));
      case "llama3",
          "llama-v3",
          "llama-bpe",
          "falcon3",
          "falcon-h1",
          "pixtral",
          "midm-2.0",
          "lfm2",
          "jina-v5-nano" ->
          Optional.of(new Family(new ModernSplitter(3), true, true));
      case "smaug-bpe", "dbrx", "glm4", "chatglm-bpe" -> family(new ModernSplitter(3));
      case "qwen2",
          "deepseek-r1-qwen",
          "kormo",
          "f2llmv2",
          "megrez",
          "stablelm2",
          "hunyuan",
          "solar-open",
          "grok-2" ->
          family(new ModernSplitter(1));
      case "tekken" -> Optional.of(new Family(new TekkenSplitter(), true, true));
      default -> Optional.empty();
    };
  }

  private static Optional<Family> family(Splitter splitter) {
    return Optional.of(new Family(splitter, false, false));
  }

  /** {@code [\p{P}$+<=>^~|]}. */
  private static boolean isDefaultSign(int point) {
    return Characters.isPunctuation(point) || (point > 0 && "$+<=>^~|".indexOf(point) >= 0);
  }

  /** Longest runs of such characters, and what lies between them. */
  private static Splitter runsOf(IntPredicate kind) {
    return (text, from, to, words) -> {
      int start = from;
      boolean within = false;
      for (int at = from; at < to; ) {
        int point = text.codePointAt(at);
        boolean is = kind.test(point);
        if (is != within && at > start) {
          words.word(start, at);
          start = at;
        }
        within = is;
        at += Character.charCount(point);
      }
      if (to > start) {
        words.word(start, to);
      }
    };
  }

  /** Each such character by itself, and what lies between them. */
  private static Splitter eachOf(IntPredicate kind) {
    return (text, from, to, words) -> {
      int start = from;
      for (int at = from; at < to; ) {
        int point = text.codePointAt(at);
        int next = at + Character.charCount(point);
        if (kind.test(point)) {
          if (at > start) {
            words.word(start, at);
          }
          words.word(at, next);
          start = next;
        }
        at = next;
      }
      if (to > start) {
        words.word(start, to);
      }
    };
  }

  /** {@code [0-9][0-9][0-9]}. */
  private static void digitTriples(String text, int from, int to, Splitter.Words words) {
    int start = from;
    for (int at = from; at + 3 <= to; ) {
      if (isDigit(text, at) && isDigit(text, at + 1) && isDigit(text, at + 2)) {
        if (at > start) {
          words.word(start, at);
        }
        words.word(at, at + 3);
        at += 3;
        start = at;
      } else {
        at++;
      }
    }
    if (to > start) {
      words.word(start, to);
    }
  }

  private static boolean isDigit(String text, int at) {
    return text.charAt(at) >= '0' && text.charAt(at) <= '9';
  }
}
