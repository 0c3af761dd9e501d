package dev.flotilla.engine.serve;

/** A mark that has to come next, maybe after blanks. */
final class AwaitedMark {
  private final String mark;
  private int seen;

  AwaitedMark(String mark) {
    this.mark = mark;
  }

  CallReader.Now next(char c) {
    if (seen == 0 && CallReader.isBlank(c)) {
      return CallReader.Now.INSIDE;
    }
    if (c != mark.charAt(seen)) {
      return CallReader.Now.TEXT;
    }
    seen++;
    return seen == mark.length() ? CallReader.Now.OVER : CallReader.Now.INSIDE;
  }
}
