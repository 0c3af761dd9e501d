package dev.flotilla.gguf.tokenizer;

/**
 * Llama 3's and Qwen 2's: {@code
 * (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,DIGITS}|
 * ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+}.
 */
record ModernSplitter(int digits) implements Splitter {
  @Override
  public void split(String text, int from, int to, Words words) {
    Scanner scanner = new Scanner(text, from, to);
    while (scanner.hasNext()) {
      int start = scanner.at();
      if (!scanner.skipContraction(true)) {
        word(scanner);
      }
      words.word(start, scanner.at());
    }
  }

  private void word(Scanner scanner) {
    int point = scanner.current();
    if (Characters.isNumber(point)) {
      scanner.skip(Characters::isNumber, digits);
    } else if (Characters.isLetter(point)
        || (!Characters.isLineEnd(point) && Characters.isLetter(scanner.following()))) {
      scanner.skip();
      scanner.skip(Characters::isLetter);
    } else if (Characters.isOther(point)
        || (point == ' ' && Characters.isOther(scanner.following()))) {
      scanner.skip();
      scanner.skip(Characters::isOther);
      scanner.skip(Characters::isLineEnd);
    } else {
      scanner.skipSpace(true);
    }
  }
}
