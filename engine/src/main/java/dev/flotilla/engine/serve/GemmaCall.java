package dev.flotilla.engine.serve;

/**
 * {@code call:name{key:<escape>text<escape>,other:1,list:[…],object:{…}}}: Gemma. Its arguments
 * become JSON on the way.
 */
final class GemmaCall implements CallReader {
  /** What stands before the function's name. */
  static final String CALL = "call:";

  private static final String ESCAPE = "<escape>";
  private static final int HEAD_CHARS_MAX = 512;

  private enum State {
    HEAD,
    FIRST_KEY,
    KEY,
    FIRST_ITEM,
    VALUE,
    TEXT,
    WORD,
    BEHIND_VALUE,
    END
  }

  private final CallSink sink;
  private final AwaitedMark awaited = new AwaitedMark(CallFormat.GEMMA.end());

  /** What was read of a name, a key, a word, or of the mark that would end a text. */
  private final StringBuilder read = new StringBuilder();

  /** The brackets that are open. */
  private final StringBuilder open = new StringBuilder();

  private State state = State.HEAD;

  GemmaCall(CallSink sink) {
    this.sink = sink;
  }

  @Override
  public Now next(char c) {
    if (state == State.END) {
      return awaited.next(c);
    }
    if (state != State.TEXT && read.isEmpty() && CallReader.isBlank(c)) {
      return Now.INSIDE;
    }
    return switch (state) {
      case HEAD -> head(c);
      case FIRST_KEY, KEY -> key(c);
      case FIRST_ITEM, VALUE -> value(c);
      case TEXT -> text(c);
      case WORD -> word(c);
      default -> behindValue(c);
    };
  }

  private Now head(char c) {
    if (c != '{') {
      read.append(c);
      int length = Math.min(read.length(), CALL.length());
      boolean fits = CALL.startsWith(read.substring(0, length));
      return fits && read.length() < HEAD_CHARS_MAX ? Now.INSIDE : Now.TEXT;
    }
    String name = read.length() < CALL.length() ? "" : read.substring(CALL.length()).strip();
    if (name.isEmpty()) {
      return Now.TEXT;
    }
    sink.begins(name);
    return opened(c);
  }

  private Now opened(char c) {
    if (open.length() == Json.DEPTH_MAX) {
      return Now.BROKEN;
    }
    sink.says(String.valueOf(c));
    open.append(c);
    return go(c == '{' ? State.FIRST_KEY : State.FIRST_ITEM);
  }

  private Now key(char c) {
    if (c == '}' && read.isEmpty() && state == State.FIRST_KEY) {
      return closed(c);
    }
    if (c != ':') {
      read.append(c);
      return Now.INSIDE;
    }
    String key = read.toString().replace(ESCAPE, "").strip();
    sink.says(Json.quoted(key) + ":");
    return go(State.VALUE);
  }

  private Now value(char c) {
    if (read.isEmpty()) {
      if (c == '{' || c == '[') {
        return opened(c);
      }
      if (c == ']' && state == State.FIRST_ITEM) {
        return closed(c);
      }
    }
    read.append(c);
    if (!ESCAPE.startsWith(read.toString())) {
      read.setLength(read.length() - 1);
      state = State.WORD;
      return word(c);
    }
    if (read.length() == ESCAPE.length()) {
      sink.says("\"");
      return go(State.TEXT);
    }
    return Now.INSIDE;
  }

  /** Of a text what can't be the mark that ends it is passed on. */
  private Now text(char c) {
    read.append(c);
    int from = 0;
    while (!ESCAPE.startsWith(read.substring(from))) {
      from++;
    }
    if (from > 0) {
      String quoted = Json.quoted(read.substring(0, from));
      sink.says(quoted.substring(1, quoted.length() - 1));
      read.delete(0, from);
    }
    if (read.length() < ESCAPE.length()) {
      return Now.INSIDE;
    }
    sink.says("\"");
    return go(State.BEHIND_VALUE);
  }

  /** A number, a truth value, or a text without marks. */
  private Now word(char c) {
    if (c != ',' && c != '}' && c != ']') {
      read.append(c);
      return Now.INSIDE;
    }
    sink.says(Json.text(Json.valueOrText(read.toString().strip())));
    state = State.BEHIND_VALUE;
    read.setLength(0);
    return behindValue(c);
  }

  private Now behindValue(char c) {
    if (c == ',') {
      sink.says(",");
      return go(innermost() == '{' ? State.KEY : State.VALUE);
    }
    return c == (innermost() == '{' ? '}' : ']') ? closed(c) : Now.BROKEN;
  }

  private Now closed(char c) {
    sink.says(String.valueOf(c));
    open.setLength(open.length() - 1);
    if (!open.isEmpty()) {
      return go(State.BEHIND_VALUE);
    }
    sink.ends(0);
    return go(State.END);
  }

  private char innermost() {
    return open.charAt(open.length() - 1);
  }

  private Now go(State next) {
    read.setLength(0);
    state = next;
    return Now.INSIDE;
  }
}
