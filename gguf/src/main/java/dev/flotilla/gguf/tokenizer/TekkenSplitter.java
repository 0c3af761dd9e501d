package dev.flotilla.gguf.tokenizer;

/**
 * Mistral's newer one, which also cuts between a small letter and a capital, {@code
 * [^\r\n\p{L}\p{N}]?U*l+|[^\r\n\p{L}\p{N}]?U+l*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|
 * \s+(?!\S)|\s+} where {@code U} is any letter but a–z and {@code l} any letter but A–Z: llama.cpp
 * tells capitals from small letters in ASCII alone.
 */
final class TekkenSplitter implements Splitter {
  @Override
  public void split(String text, int from, int to, Words words) {
    Scanner scanner = new Scanner(text, from, to);
    while (scanner.hasNext()) {
      int start = scanner.at();
      int point = scanner.current();
      if (Characters.isNumber(point)) {
        scanner.skip();
      } else if (Characters.isLetter(point)) {
        letters(scanner);
      } else if (!Characters.isLineEnd(point) && Characters.isLetter(scanner.following())) {
        scanner.skip();
        letters(scanner);
      } else if (Characters.isOther(point)
          || (point == ' ' && Characters.isOther(scanner.following()))) {
        scanner.skip();
        scanner.skip(Characters::isOther);
        scanner.skip(c -> Characters.isLineEnd(c) || c == '/');
      } else {
        scanner.skipSpace(true);
      }
      words.word(start, scanner.at());
    }
  }

  /** Capitals, then small letters; where none of these follow, up to the last that is both. */
  private static void letters(Scanner scanner) {
    int behindBoth = -1;
    while (isUpper(scanner.current())) {
      boolean both = scanner.current() > 0x7f;
      scanner.skip();
      if (both) {
        behindBoth = scanner.at();
      }
    }
    if (isLower(scanner.current())) {
      scanner.skip(TekkenSplitter::isLower);
    } else if (behindBoth >= 0) {
      scanner.moveTo(behindBoth);
    }
  }

  private static boolean isUpper(int point) {
    return Characters.isLetter(point) && !(point >= 'a' && point <= 'z');
  }

  private static boolean isLower(int point) {
    return Characters.isLetter(point) && !(point >= 'A' && point <= 'Z');
  }
}
