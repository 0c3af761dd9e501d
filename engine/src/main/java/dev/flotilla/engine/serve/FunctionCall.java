package dev.flotilla.engine.serve;

/**
 * {@code <function=name><parameter=key>value</parameter>…</function>}: Qwen's coders. A value is
 * JSON or a text, which shows only at its end: so arguments are passed on one by one.
 */
final class FunctionCall implements CallReader {
  private static final String FUNCTION = "<function=";
  private static final String FUNCTION_END = "</function>";
  private static final String PARAMETER = "<parameter=";
  private static final String PARAMETER_END = "</parameter>";

  private enum State {
    HEAD,
    BODY,
    END
  }

  private final String end;
  private final CallSink sink;
  private final AwaitedMark awaited;

  /** What was read of the mark or parameter that is being read. */
  private final StringBuilder read = new StringBuilder();

  private State state = State.HEAD;
  private String separator = "{";

  FunctionCall(String end, CallSink sink) {
    this.end = end;
    this.sink = sink;
    this.awaited = new AwaitedMark(end);
  }

  @Override
  public Now next(char c) {
    if (state == State.END) {
      return awaited.next(c);
    }
    if (read.isEmpty() && CallReader.isBlank(c)) {
      return Now.INSIDE;
    }
    read.append(c);
    return state == State.HEAD ? head(c) : body(c);
  }

  private Now head(char c) {
    if (!fits(FUNCTION)) {
      return Now.TEXT;
    }
    if (c != '>' || read.length() <= FUNCTION.length()) {
      return Now.INSIDE;
    }
    String name = read.substring(FUNCTION.length(), read.length() - 1).strip();
    if (name.isEmpty()) {
      return Now.TEXT;
    }
    sink.begins(name);
    read.setLength(0);
    state = State.BODY;
    return Now.INSIDE;
  }

  private Now body(char c) {
    if (c != '>') {
      return fits(PARAMETER) || fits(FUNCTION_END) || fits(end) ? Now.INSIDE : broken();
    }
    if (endsWith(PARAMETER_END) && fits(PARAMETER)) {
      return parameter();
    }
    boolean over = end.contentEquals(read);
    if (!over && !FUNCTION_END.contentEquals(read)) {
      return fits(PARAMETER) ? Now.INSIDE : broken();
    }
    sink.says(separator.equals("{") ? "{}" : "}");
    sink.ends(0);
    state = State.END;
    return over ? Now.OVER : Now.INSIDE;
  }

  private Now parameter() {
    int keyEnd = read.indexOf(">");
    int valueEnd = read.length() - PARAMETER_END.length();
    if (keyEnd > valueEnd) {
      return broken();
    }
    String key = read.substring(PARAMETER.length(), keyEnd);
    String value = read.substring(keyEnd + 1, valueEnd).strip();
    sink.says(separator + Json.quoted(key) + ":" + Json.text(Json.valueOrText(value)));
    separator = ",";
    read.setLength(0);
    return Now.INSIDE;
  }

  /** What was read but the last character is passed on as it is. */
  private Now broken() {
    sink.says(read.substring(0, read.length() - 1));
    return Now.BROKEN;
  }

  /** Whether what was read is the beginning of the mark, or goes on behind it. */
  private boolean fits(String mark) {
    int length = Math.min(read.length(), mark.length());
    for (int i = 0; i < length; i++) {
      if (read.charAt(i) != mark.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  private boolean endsWith(String mark) {
    int from = read.length() - mark.length();
    return from >= 0 && read.indexOf(mark, from) == from;
  }
}
