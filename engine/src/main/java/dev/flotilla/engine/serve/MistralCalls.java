package dev.flotilla.engine.serve;

import org.jspecify.annotations.Nullable;

/** What stands behind {@code [TOOL_CALLS]}: JSON objects, or {@code name[ARGS]{…}}. */
final class MistralCalls implements CallReader {
  private static final String ARGUMENTS = "[ARGS]";
  private static final int NAME_CHARS_MAX = 512;

  private enum State {
    BEGIN,
    NAME,
    BEFORE_ARGUMENTS,
    ARGUMENTS,
    BETWEEN
  }

  private final CallSink sink;
  private final StringBuilder read = new StringBuilder();
  private State state = State.BEGIN;
  private @Nullable CallReader objects;
  private JsonScan scan = new JsonScan();
  private AwaitedMark again = new AwaitedMark(CallFormat.MISTRAL.begin());

  MistralCalls(CallSink sink) {
    this.sink = sink;
  }

  @Override
  public Now next(char c) {
    CallReader inner = objects;
    if (inner != null) {
      return inner.next(c);
    }
    return switch (state) {
      case BEGIN -> begin(c);
      case NAME -> name(c);
      case BEFORE_ARGUMENTS -> beforeArguments(c);
      case ARGUMENTS -> arguments(c);
      case BETWEEN -> between(c);
    };
  }

  private Now begin(char c) {
    if (CallReader.isBlank(c)) {
      return Now.INSIDE;
    }
    if (c == '[' || c == '{') {
      JsonCalls calls = new JsonCalls("", sink);
      objects = calls;
      return calls.next(c);
    }
    state = State.NAME;
    return name(c);
  }

  private Now name(char c) {
    read.append(c);
    int at = read.length() - ARGUMENTS.length();
    if (at < 0 || read.indexOf(ARGUMENTS, at) != at) {
      return read.length() > NAME_CHARS_MAX ? Now.TEXT : Now.INSIDE;
    }
    state = State.BEFORE_ARGUMENTS;
    return Now.INSIDE;
  }

  private Now beforeArguments(char c) {
    if (CallReader.isBlank(c)) {
      return Now.INSIDE;
    }
    String head = read.substring(0, read.length() - ARGUMENTS.length());
    String name = head.replaceFirst("\\[CALL_ID].*", "").strip();
    if (c != '{' || name.isEmpty()) {
      return Now.TEXT;
    }
    sink.begins(name);
    scan = new JsonScan();
    state = State.ARGUMENTS;
    return arguments(c);
  }

  private Now arguments(char c) {
    boolean blank = CallReader.isBlank(c) && !scan.inString();
    JsonScan.Now now = scan.next(c);
    if (now == JsonScan.Now.WRONG) {
      return Now.BROKEN;
    }
    if (!blank) {
      sink.says(String.valueOf(c));
    }
    if (now == JsonScan.Now.LAST) {
      sink.ends(0);
      again = new AwaitedMark(CallFormat.MISTRAL.begin());
      state = State.BETWEEN;
    }
    return Now.INSIDE;
  }

  private Now between(char c) {
    Now now = again.next(c);
    if (now != Now.OVER) {
      return now;
    }
    read.setLength(0);
    state = State.NAME;
    return Now.INSIDE;
  }
}
