package dev.flotilla.engine.serve;

import org.jspecify.annotations.Nullable;

/**
 * Calls that are JSON objects: one and the mark that ends it, or where none does several, apart by
 * semicolons, commas or nothing, or in a list.
 */
final class JsonCalls implements CallReader {
  private enum State {
    BEGIN,
    CALL,
    BETWEEN,
    END
  }

  private final CallSink sink;
  private final @Nullable AwaitedMark end;
  private State state = State.BEGIN;
  private JsonCall call;
  private boolean inList;

  /**
   * Before the first character.
   *
   * @param end the mark behind the one call; empty where there may be several
   */
  JsonCalls(String end, CallSink sink) {
    this.sink = sink;
    this.end = end.isEmpty() ? null : new AwaitedMark(end);
    this.call = new JsonCall(sink);
  }

  @Override
  public Now next(char c) {
    return switch (state) {
      case BEGIN -> begin(c);
      case CALL -> call(c);
      case BETWEEN -> between(c);
      case END -> end == null ? Now.TEXT : end.next(c);
    };
  }

  private Now begin(char c) {
    if (CallReader.isBlank(c)) {
      return Now.INSIDE;
    }
    if (c == '[' && end == null && !inList) {
      inList = true;
      return Now.INSIDE;
    }
    call = new JsonCall(sink);
    state = State.CALL;
    return call(c);
  }

  private Now call(char c) {
    return switch (call.next(c)) {
      case INSIDE -> Now.INSIDE;
      case LAST -> {
        state = end == null ? State.BETWEEN : State.END;
        yield Now.INSIDE;
      }
      case BEHIND -> {
        state = end == null ? State.BETWEEN : State.END;
        yield next(c);
      }
      case NO_CALL -> Now.TEXT;
      case BROKEN -> Now.BROKEN;
    };
  }

  private Now between(char c) {
    if (CallReader.isBlank(c)) {
      return Now.INSIDE;
    }
    if (inList && c == ']') {
      return Now.OVER;
    }
    if (c == ',' || c == ';') {
      state = State.BEGIN;
      return Now.INSIDE;
    }
    return inList || c != '{' ? Now.TEXT : begin(c);
  }
}
