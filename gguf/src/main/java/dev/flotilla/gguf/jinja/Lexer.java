package dev.flotilla.gguf.jinja;

import dev.flotilla.gguf.python.Blanks;
import dev.flotilla.gguf.python.Numbers;
import dev.flotilla.gguf.sandbox.Failure;
import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Cuts a template into tokens, with the white space around tags taken away as {@code trim_blocks}
 * and {@code lstrip_blocks} have it, which every chat template is written for: the line break after
 * a block and the blanks before one on its line go, and {@code -} and {@code +} at a tag's ends
 * overrule that.
 */
final class Lexer {
  private static final List<String> OPERATORS =
      List.of(
          "**", "//", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{",
          "}", ">", "<", "=", ".", ":", "|", ",", ";");

  private final String source;
  private final List<Token> tokens = new ArrayList<>();
  private int at;
  private int line = 1;
  private int counted;

  /** Whether what was read last ended with a line break, or nothing was read yet. */
  private boolean lineStarts = true;

  private Lexer(String source) {
    this.source = source;
  }

  static List<Token> tokens(String template) {
    String lines = template.replace("\r\n", "\n").replace('\r', '\n');
    Lexer lexer = new Lexer(lines.endsWith("\n") ? lines.substring(0, lines.length() - 1) : lines);
    lexer.read();
    return lexer.tokens;
  }

  private void read() {
    while (at < source.length()) {
      int begin = nextTag(at);
      if (begin < 0) {
        add(TokenType.TEXT, source.substring(at));
        at = source.length();
        break;
      }
      char kind = source.charAt(begin + 1);
      char sign = charAt(begin + 2);
      boolean signed = sign == '-' || sign == '+';
      text(source.substring(at, begin), signed ? sign : ' ', kind != '{');
      at = begin + (signed ? 3 : 2);
      lineStarts = false;
      switch (kind) {
        case '#' -> comment();
        case '{' -> {
          add(TokenType.PRINT_BEGIN, "{{");
          expression("}}", TokenType.PRINT_END);
        }
        default -> {
          if (!raw()) {
            add(TokenType.BLOCK_BEGIN, "{%");
            expression("%}", TokenType.BLOCK_END);
          }
        }
      }
    }
    add(TokenType.END, "");
  }

  private int nextTag(int from) {
    for (int i = source.indexOf('{', from); i >= 0; i = source.indexOf('{', i + 1)) {
      char next = charAt(i + 1);
      if (next == '%' || next == '{' || next == '#') {
        return i;
      }
    }
    return -1;
  }

  /** Text before a tag whose sign is {@code -}, {@code +} or none. */
  private void text(String text, char sign, boolean lineOfItsOwn) {
    String kept = text;
    if (sign == '-') {
      kept = Blanks.stripEnd(text);
    } else if (sign != '+' && lineOfItsOwn) {
      int lineStart = text.lastIndexOf('\n') + 1;
      if ((lineStart > 0 || lineStarts) && Blanks.isBlank(text, lineStart)) {
        kept = text.substring(0, lineStart);
      }
    }
    if (!kept.isEmpty()) {
      add(TokenType.TEXT, kept);
    }
  }

  private void comment() {
    int end = source.indexOf("#}", at);
    if (end < 0) {
      throw Failure.syntax(line(at), "a comment has no end '#}'");
    }
    char sign = end > at ? source.charAt(end - 1) : ' ';
    at = end + 2;
    afterTag(sign, true);
  }

  /** Takes what the end of a tag with this sign takes of the text behind it. */
  private void afterTag(char sign, boolean trims) {
    if (sign == '-') {
      while (at < source.length() && Blanks.isBlank(source.charAt(at))) {
        at++;
      }
    } else if (sign != '+' && trims && charAt(at) == '\n') {
      at++;
    }
    lineStarts = charAt(at - 1) == '\n';
  }

  /** Reads {@code raw … endraw} as text, where the tag at hand is one. */
  private boolean raw() {
    int i = skipBlanks(at);
    if (!source.startsWith("raw", i)) {
      return false;
    }
    i = skipBlanks(i + 3);
    char sign = charAt(i);
    if (!source.startsWith(sign == '-' ? "-%}" : "%}", i)) {
      return false;
    }
    int opened = line(at);
    at = i + (sign == '-' ? 3 : 2);
    afterTag(sign, false);
    int from = at;
    for (int end = source.indexOf("{%", at); end >= 0; end = source.indexOf("{%", end + 1)) {
      char before = charAt(end + 2);
      int word = skipBlanks(end + (before == '-' || before == '+' ? 3 : 2));
      if (!source.startsWith("endraw", word)) {
        continue;
      }
      int close = skipBlanks(word + 6);
      char after = charAt(close);
      boolean signed = after == '-' || after == '+';
      if (source.startsWith("%}", signed ? close + 1 : close)) {
        text(source.substring(from, end), before, true);
        at = close + (signed ? 3 : 2);
        afterTag(after, true);
        return true;
      }
    }
    throw Failure.syntax(opened, "a raw block has no end '{% endraw %}'");
  }

  /** Reads the tokens up to a tag's end. */
  private void expression(String end, TokenType endType) {
    boolean block = endType == TokenType.BLOCK_END;
    int opened = line(at);
    Deque<Character> open = new ArrayDeque<>();
    while (true) {
      at = skipBlanks(at);
      if (at >= source.length()) {
        throw Failure.syntax(opened, "a tag has no end '" + end + "'");
      }
      char c = source.charAt(at);
      if (open.isEmpty()) {
        boolean signed = (c == '-' || (c == '+' && block)) && source.startsWith(end, at + 1);
        if (signed || source.startsWith(end, at)) {
          add(endType, end);
          at += signed ? 3 : 2;
          afterTag(signed ? c : ' ', block);
          return;
        }
      }
      if (c == '"' || c == '\'') {
        string(c);
      } else if (c >= '0' && c <= '9') {
        number();
      } else if (c == '_' || Character.isLetter(source.codePointAt(at))) {
        name();
      } else {
        operator(open);
      }
    }
  }

  private void operator(Deque<Character> open) {
    for (String operator : OPERATORS) {
      if (source.startsWith(operator, at)) {
        char c = operator.charAt(0);
        switch (c) {
          case '(' -> open.push(')');
          case '[' -> open.push(']');
          case '{' -> open.push('}');
          case ')', ']', '}' -> {
            if (open.isEmpty() || open.pop() != c) {
              throw Failure.syntax(line(at), "an unexpected '" + c + "'");
            }
          }
          default -> {}
        }
        add(TokenType.OPERATOR, operator);
        at += operator.length();
        return;
      }
    }
    throw Failure.syntax(
        line(at), "an unexpected character '" + Character.toString(source.codePointAt(at)) + "'");
  }

  private void name() {
    int from = at;
    while (at < source.length()) {
      int point = source.codePointAt(at);
      if (point != '_' && !Character.isLetterOrDigit(point)) {
        break;
      }
      at += Character.charCount(point);
    }
    String name = source.substring(from, at);
    tokens.add(new Token(TokenType.NAME, name, name, line(from)));
  }

  private void number() {
    int from = at;
    char second = Character.toLowerCase(charAt(at + 1));
    int radix =
        charAt(at) != '0' ? 10 : second == 'x' ? 16 : second == 'o' ? 8 : second == 'b' ? 2 : 10;
    if (radix != 10) {
      at += 2;
      digits(radix);
      whole(from, source.substring(from + 2, at), radix);
      return;
    }
    digits(10);
    boolean real = false;
    boolean afterDot = from > 0 && source.charAt(from - 1) == '.'; // x.0.1: elements, no fraction
    if (!afterDot && charAt(at) == '.' && isDigit(charAt(at + 1), 10)) {
      at++;
      digits(10);
      real = true;
    }
    if (!afterDot && (charAt(at) == 'e' || charAt(at) == 'E')) {
      int sign = charAt(at + 1) == '+' || charAt(at + 1) == '-' ? 1 : 0;
      if (isDigit(charAt(at + 1 + sign), 10)) {
        at += 1 + sign;
        digits(10);
        real = true;
      }
    }
    String text = source.substring(from, at).replace("_", "");
    if (real) {
      tokens.add(new Token(TokenType.NUMBER, text, Double.valueOf(text), line(from)));
    } else {
      whole(from, text, 10);
    }
  }

  private void whole(int from, String digits, int radix) {
    String plain = digits.replace("_", "");
    if (plain.isEmpty() || plain.length() > 1000) {
      throw Failure.syntax(line(from), "a number that is none");
    }
    tokens.add(
        new Token(
            TokenType.NUMBER, plain, Numbers.narrow(new BigInteger(plain, radix)), line(from)));
  }

  private void digits(int radix) {
    while (isDigit(charAt(at), radix) || (charAt(at) == '_' && isDigit(charAt(at + 1), radix))) {
      at++;
    }
  }

  private static boolean isDigit(char c, int radix) {
    return c < 0x80 && Character.digit(c, radix) >= 0;
  }

  private void string(char quote) {
    int from = at++;
    StringBuilder text = new StringBuilder();
    while (charAt(at) != quote) {
      if (at >= source.length()) {
        throw Failure.syntax(line(from), "a string has no end");
      }
      if (source.charAt(at) == '\\') {
        escape(text, from);
      } else {
        text.append(source.charAt(at++));
      }
    }
    at++;
    String value = text.toString();
    tokens.add(new Token(TokenType.STRING, value, value, line(from)));
  }

  private void escape(StringBuilder text, int from) {
    char c = charAt(at + 1);
    at += 2;
    switch (c) {
      case '\n' -> {}
      case '\\', '\'', '"' -> text.append(c);
      case 'a' -> text.append('\u0007');
      case 'b' -> text.append('\b');
      case 'f' -> text.append('\f');
      case 'n' -> text.append('\n');
      case 'r' -> text.append('\r');
      case 't' -> text.append('\t');
      case 'v' -> text.append('\u000b');
      case 'x' -> code(text, 2, from);
      case 'u' -> code(text, 4, from);
      case 'U' -> code(text, 8, from);
      default -> {
        if (isDigit(c, 8)) {
          int end = at;
          while (end < at + 2 && isDigit(charAt(end), 8)) {
            end++;
          }
          text.append((char) Integer.parseInt(source.substring(at - 1, end), 8));
          at = end;
        } else {
          text.append('\\').append(c);
        }
      }
    }
  }

  private void code(StringBuilder text, int digits, int from) {
    int point = 0;
    for (int i = 0; i < digits; i++) {
      int digit = Character.digit(charAt(at++), 16);
      point = point << 4 | digit;
      if (digit < 0 || point > Character.MAX_CODE_POINT) {
        throw Failure.syntax(line(from), "a string with an escape that names no character");
      }
    }
    text.appendCodePoint(point);
  }

  private int skipBlanks(int from) {
    int i = from;
    while (i < source.length() && Blanks.isBlank(source.charAt(i))) {
      i++;
    }
    return i;
  }

  private char charAt(int index) {
    return index < source.length() ? source.charAt(index) : '\0';
  }

  private void add(TokenType type, String text) {
    tokens.add(new Token(type, text, text, line(at)));
  }

  /** The line of a place, which never lies before the one asked for last by much. */
  private int line(int place) {
    if (place < counted) {
      line = 1;
      counted = 0;
    }
    for (; counted < place; counted++) {
      if (source.charAt(counted) == '\n') {
        line++;
      }
    }
    return line;
  }
}
