package dev.flotilla.engine.serve;

import org.jspecify.annotations.Nullable;

/** What stands between {@code <tool_call>} and its end: a JSON object, or what Qwen's coders do. */
final class HermesCall implements CallReader {
  private final CallSink sink;
  private @Nullable CallReader inner;

  HermesCall(CallSink sink) {
    this.sink = sink;
  }

  @Override
  public Now next(char c) {
    CallReader reader = inner;
    if (reader == null) {
      if (CallReader.isBlank(c)) {
        return Now.INSIDE;
      }
      String end = CallFormat.HERMES.end();
      reader = c == '<' ? new FunctionCall(end, sink) : new JsonCalls(end, sink);
      inner = reader;
    }
    return reader.next(c);
  }
}
