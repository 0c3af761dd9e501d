package dev.flotilla.shape.reply;

/** How models mark a tool call in their text. */
enum CallMark {
  NONE("", ""),
  TOOL_CALL("<tool_call>", "</tool_call>"),
  FUNCTION("<function=", "</function>"),
  MISTRAL("[TOOL_CALLS]", ""),
  PYTHON_TAG("<|python_tag|>", ""),
  JSON("{", "");

  private final String text;
  private final String close;

  CallMark(String text, String close) {
    this.text = text;
    this.close = close;
  }

  String text() {
    return text;
  }

  /** What ends the call, empty where only the answer's end does. */
  String close() {
    return close;
  }

  /** Whether the mark is itself the beginning of the call's text. */
  boolean isCall() {
    return this == FUNCTION || this == JSON;
  }

  static boolean mayBegin(char c) {
    return c == '<' || c == '[' || c == '{';
  }

  /** The mark that this is, {@link #NONE} where it is none. */
  static CallMark of(CharSequence held) {
    for (CallMark mark : values()) {
      if (mark != NONE && mark.text.contentEquals(held)) {
        return mark;
      }
    }
    return NONE;
  }

  /** Whether a mark begins like this. */
  static boolean mayBecome(CharSequence held) {
    for (CallMark mark : values()) {
      if (mark.text.length() > held.length()
          && mark.text.regionMatches(0, held.toString(), 0, held.length())) {
        return true;
      }
    }
    return false;
  }
}
