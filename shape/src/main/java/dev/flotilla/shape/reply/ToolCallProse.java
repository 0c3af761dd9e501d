package dev.flotilla.shape.reply;

import dev.flotilla.shape.reply.CallText.Call;
import java.util.List;
import java.util.function.Consumer;

/**
 * Tool calls that a model wrote into its text, where the engine left them there, become {@link
 * Piece.ToolCall}: {@code <tool_call>} with JSON (Hermes, Qwen) or with XML (Qwen3-Coder), {@code
 * <function=} alone, {@code [TOOL_CALLS]} (Mistral), and JSON alone or behind {@code
 * <|python_tag|>} (Llama 3).
 *
 * <p>What could be the beginning of a mark is held back until it is or isn't; from a mark on, the
 * text is held back until the call is whole. Marks in code are text, and so is what stands where a
 * call should and is none. JSON alone is a call only at the beginning of the answer, and only where
 * it names a tool that the client offered. Space around calls is dropped. A call that the length
 * limit cut is given as far as it goes, if its name is whole: its arguments are then half a JSON,
 * as OpenAI's are.
 */
final class ToolCallProse implements Stage {
  /** Characters of one call; what is longer is text. */
  static final int CALL_CHARS_MAX = 1 << 20;

  /** By then JSON that is a call has named its tool. */
  private static final int NAME_WITHIN_CHARS = 512;

  private final Offered offered;
  private final CodeSpans code = new CodeSpans();
  private final StringBuilder ready = new StringBuilder();

  /** Space that is dropped if a call comes next. */
  private final StringBuilder space = new StringBuilder();

  /** What may be a mark, or the text of a call from behind its mark on. */
  private final StringBuilder held = new StringBuilder();

  /** The mark whose call is being read. */
  private CallMark mark = CallMark.NONE;

  private boolean anything;
  private boolean afterCall;

  ToolCallProse(Offered offered) {
    this.offered = offered;
  }

  @Override
  public void take(Piece piece, Consumer<Piece> next) {
    switch (piece) {
      case Piece.Text text -> {
        for (int i = 0; i < text.text().length(); i++) {
          read(text.text().charAt(i), next);
        }
        flush(next);
      }
      case Piece.Finish finish -> {
        end(next);
        flush(next);
        next.accept(finish);
      }
      default -> next.accept(piece);
    }
  }

  private void read(char c, Consumer<Piece> next) {
    if (mark != CallMark.NONE) {
      call(c, next);
      return;
    }
    if (held.isEmpty() && !CallMark.mayBegin(c)) {
      plain(c);
      return;
    }
    if (held.isEmpty() && (code.inCode(c) || (c == '{' && anything))) {
      plain(c);
      return;
    }
    held.append(c);
    CallMark whole = CallMark.of(held);
    if (whole != CallMark.NONE) {
      mark = whole;
      held.setLength(0);
      if (whole.isCall()) {
        held.append(whole.text());
      }
    } else if (!CallMark.mayBecome(held)) {
      notThis(next);
    }
  }

  /** What was held is no mark: its first character is text, the others are looked at anew. */
  private void notThis(Consumer<Piece> next) {
    String text = held.toString();
    held.setLength(0);
    plain(text.charAt(0));
    for (int i = 1; i < text.length(); i++) {
      read(text.charAt(i), next);
    }
  }

  private void call(char c, Consumer<Piece> next) {
    held.append(c);
    if (held.length() > CALL_CHARS_MAX) {
      asText();
      return;
    }
    switch (mark) {
      case JSON -> {
        if (held.length() <= NAME_WITHIN_CHARS && !CallText.mayBeCall(held, offered)) {
          asText();
        }
      }
      case TOOL_CALL, FUNCTION -> {
        String close = mark.close();
        if (c == '>' && held.indexOf(close, held.length() - close.length()) >= 0) {
          String inner = held.substring(0, held.length() - (mark.isCall() ? 0 : close.length()));
          List<Call> calls = CallText.calls(inner, offered);
          if (!calls.isEmpty()) {
            hand(calls, next);
          }
        }
      }
      case PYTHON_TAG, MISTRAL, NONE -> {
        // These have no end but the answer's.
      }
    }
  }

  /** The answer is over: what is held is a call without its end, half a call, or text. */
  private void end(Consumer<Piece> next) {
    if (mark == CallMark.NONE) {
      String text = held.toString();
      held.setLength(0);
      text.chars().forEach(c -> plain((char) c));
    } else {
      List<Call> calls = CallText.calls(held.toString(), offered);
      boolean closed = !mark.close().isEmpty() && held.indexOf(mark.close()) >= 0;
      if (calls.isEmpty() && !closed) {
        calls = CallText.cut(held.toString(), offered);
      }
      if (calls.isEmpty()) {
        asText();
      } else {
        hand(calls, next);
      }
    }
    ready.append(space);
    space.setLength(0);
  }

  private void hand(List<Call> calls, Consumer<Piece> next) {
    space.setLength(0);
    flush(next);
    for (Call call : calls) {
      next.accept(new Piece.ToolCall(-1, call.id(), call.name(), call.arguments()));
    }
    afterCall = true;
    anything = true;
    held.setLength(0);
    mark = CallMark.NONE;
  }

  private void asText() {
    String text = (mark.isCall() ? "" : mark.text()) + held;
    mark = CallMark.NONE;
    held.setLength(0);
    text.chars().forEach(c -> plain((char) c));
  }

  private void plain(char c) {
    code.feed(c);
    if (Character.isWhitespace(c)) {
      if (!afterCall) {
        space.append(c);
      }
      return;
    }
    anything = true;
    afterCall = false;
    ready.append(space).append(c);
    space.setLength(0);
  }

  private void flush(Consumer<Piece> next) {
    if (!ready.isEmpty()) {
      String text = ready.toString();
      ready.setLength(0);
      next.accept(new Piece.Text(text));
    }
  }
}
