package dev.flotilla.engine.serve;

import java.util.regex.Pattern;

/** Follows one JSON value, character by character. */
final class JsonScan {
  private static final Pattern WORD =
      Pattern.compile("true|false|null|-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?");
  private static final int WORD_CHARS_MAX = 1_000;

  /** What a character was. */
  enum Now {
    /** A part of the value, or a blank before it. */
    INSIDE,
    /** Its last character. */
    LAST,
    /** The first one behind it: a number ends only there. */
    BEHIND,
    /** None that JSON has here. */
    WRONG
  }

  private enum State {
    VALUE,
    FIRST_ITEM,
    FIRST_KEY,
    KEY,
    COLON,
    BEHIND_VALUE,
    STRING,
    ESCAPE,
    HEX,
    WORD
  }

  /** The brackets that are open. */
  private final StringBuilder open = new StringBuilder();

  private final StringBuilder word = new StringBuilder();
  private State state = State.VALUE;
  private boolean isKey;
  private int hexDigits;

  /** Whether a blank that came now would belong to the value. */
  boolean inString() {
    return state == State.STRING || state == State.ESCAPE || state == State.HEX;
  }

  Now next(char c) {
    return switch (state) {
      case STRING -> string(c);
      case ESCAPE -> escape(c);
      case HEX -> hex(c);
      case WORD -> word(c);
      default -> CallReader.isBlank(c) ? Now.INSIDE : mark(c);
    };
  }

  private Now string(char c) {
    if (c == '"') {
      return isKey ? go(State.COLON) : ended();
    }
    if (c < ' ') {
      return Now.WRONG;
    }
    return c == '\\' ? go(State.ESCAPE) : Now.INSIDE;
  }

  private Now escape(char c) {
    if (c == 'u') {
      hexDigits = 4;
      return go(State.HEX);
    }
    return "\"\\/bfnrt".indexOf(c) < 0 ? Now.WRONG : go(State.STRING);
  }

  private Now hex(char c) {
    hexDigits--;
    if (Character.digit(c, 16) < 0) {
      return Now.WRONG;
    }
    return hexDigits == 0 ? go(State.STRING) : Now.INSIDE;
  }

  private Now word(char c) {
    if (isWord(c)) {
      word.append(c);
      return word.length() > WORD_CHARS_MAX ? Now.WRONG : Now.INSIDE;
    }
    if (!WORD.matcher(word).matches()) {
      return Now.WRONG;
    }
    return ended() == Now.LAST ? Now.BEHIND : next(c);
  }

  private static boolean isWord(char c) {
    return (c >= '0' && c <= '9')
        || (c >= 'a' && c <= 'z')
        || c == '-'
        || c == '+'
        || c == '.'
        || c == 'E';
  }

  private Now mark(char c) {
    return switch (state) {
      case FIRST_KEY, KEY -> {
        if (c == '"') {
          isKey = true;
          yield go(State.STRING);
        }
        yield c == '}' && state == State.FIRST_KEY ? closed(c) : Now.WRONG;
      }
      case COLON -> c == ':' ? go(State.VALUE) : Now.WRONG;
      case BEHIND_VALUE -> {
        if (c == ',') {
          yield go(innermost() == '{' ? State.KEY : State.VALUE);
        }
        yield closed(c);
      }
      default -> c == ']' && state == State.FIRST_ITEM ? closed(c) : value(c);
    };
  }

  private Now value(char c) {
    if (c == '"') {
      isKey = false;
      return go(State.STRING);
    }
    if (c == '{' || c == '[') {
      open.append(c);
      return open.length() > Json.DEPTH_MAX
          ? Now.WRONG
          : go(c == '{' ? State.FIRST_KEY : State.FIRST_ITEM);
    }
    if (!isWord(c)) {
      return Now.WRONG;
    }
    word.setLength(0);
    word.append(c);
    return go(State.WORD);
  }

  private Now closed(char c) {
    if (c != (innermost() == '{' ? '}' : ']')) {
      return Now.WRONG;
    }
    open.setLength(open.length() - 1);
    return ended();
  }

  private Now ended() {
    state = State.BEHIND_VALUE;
    return open.isEmpty() ? Now.LAST : Now.INSIDE;
  }

  private char innermost() {
    return open.charAt(open.length() - 1);
  }

  private Now go(State next) {
    state = next;
    return Now.INSIDE;
  }
}
