package dev.flotilla.shape.reply;

/**
 * Whether a place in a text is code, by CommonMark's two marks for it: a fence of three or more
 * backticks or tildes at the beginning of a line, up to the next such line, and backticks within a
 * paragraph, up to as many again. Reads the text character by character.
 */
final class CodeSpans {
  private static final int FENCE_LEAST = 3;
  private static final int INDENT_MOST = 3;

  private boolean lineBegins = true;
  private int indent;
  private char runMark;
  private int run;
  private boolean runBeginsLine;
  private char fenceMark;
  private int fence;
  private int inline;

  /** Whether the next character would be code, {@code next} being that one. */
  boolean inCode(char next) {
    if (run > 0 && next != runMark) {
      endRun();
    }
    return fence > 0 || inline > 0;
  }

  void feed(char c) {
    if (run > 0 && c != runMark) {
      endRun();
    }
    if (c == '`' || (c == '~' && (run > 0 || lineBegins))) {
      if (run == 0) {
        runMark = c;
        runBeginsLine = lineBegins;
      }
      run++;
      lineBegins = false;
    } else if (c == '\n') {
      if (lineBegins) {
        // An empty line ends the paragraph, and with it whatever was left open.
        inline = 0;
      }
      lineBegins = true;
      indent = 0;
    } else if (c == ' ' && lineBegins && indent < INDENT_MOST) {
      indent++;
    } else if (c != '\r') {
      lineBegins = false;
    }
  }

  private void endRun() {
    if (fence > 0) {
      if (runBeginsLine && runMark == fenceMark && run >= fence) {
        fence = 0;
      }
    } else if (inline > 0) {
      if (runMark == '`' && run == inline) {
        inline = 0;
      }
    } else if (runBeginsLine && run >= FENCE_LEAST) {
      fence = run;
      fenceMark = runMark;
    } else if (runMark == '`') {
      inline = run;
    }
    run = 0;
  }
}
