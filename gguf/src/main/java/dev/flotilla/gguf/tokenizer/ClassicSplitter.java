package dev.flotilla.gguf.tokenizer;

/** GPT-2's: {@code 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+}. */
final class ClassicSplitter implements Splitter {
  @Override
  public void split(String text, int from, int to, Words words) {
    Scanner scanner = new Scanner(text, from, to);
    while (scanner.hasNext()) {
      int start = scanner.at();
      if (!scanner.skipContraction(false)) {
        int first = scanner.current() == ' ' ? scanner.following() : scanner.current();
        if (Characters.isLetter(first)) {
          scanner.skip();
          scanner.skip(Characters::isLetter);
        } else if (Characters.isNumber(first)) {
          scanner.skip();
          scanner.skip(Characters::isNumber);
        } else if (Characters.isOther(first)) {
          scanner.skip();
          scanner.skip(Characters::isOther);
        } else {
          scanner.skipSpace(false);
        }
      }
      words.word(start, scanner.at());
    }
  }
}
