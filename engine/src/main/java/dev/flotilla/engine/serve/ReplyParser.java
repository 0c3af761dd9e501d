package dev.flotilla.engine.serve;

import dev.flotilla.engine.serve.Part.Arguments;
import dev.flotilla.engine.serve.Part.Call;
import dev.flotilla.engine.serve.Part.Content;
import dev.flotilla.engine.serve.Part.Thought;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Cuts an answer that comes in pieces into thoughts, content and calls. What could be the beginning
 * of a mark is held back until it is known; a call is said when it is whole, and what turns out to
 * be no call is content.
 *
 * <p>States: {@code THOUGHT → TEXT ⇄ CALL}. For one answer, one thread.
 */
final class ReplyParser {
  private static final String THINK = "<think>";
  private static final String THOUGHT_OVER = "</think>";

  private enum State {
    THOUGHT,
    TEXT,
    CALL
  }

  private final Optional<CallFormat> format;
  private final Supplier<String> callIds;
  private final boolean marksThoughts;
  private final StringBuilder held = new StringBuilder();
  private State state;
  private boolean begun;
  private boolean spoke;
  private int calls;

  /**
   * For one answer.
   *
   * @param marksThoughts whether {@code <think>} is a mark
   * @param inThought whether the prompt ended with it already
   * @param format how calls are written, where tools may be called
   */
  ReplyParser(
      boolean marksThoughts,
      boolean inThought,
      Optional<CallFormat> format,
      Supplier<String> callIds) {
    this.marksThoughts = marksThoughts;
    this.format = format;
    this.callIds = callIds;
    this.state = inThought ? State.THOUGHT : State.TEXT;
  }

  /** How many calls were said. */
  int calls() {
    return calls;
  }

  /** More of the answer; what can be said of it by now. */
  List<Part> add(String piece) {
    if (piece.isEmpty()) {
      return List.of();
    }
    held.append(piece);
    List<Part> parts = new ArrayList<>();
    boolean more = true;
    while (more) {
      more =
          switch (state) {
            case THOUGHT -> thought(parts);
            case TEXT -> text(parts);
            case CALL -> call(parts);
          };
    }
    return parts;
  }

  /** The answer has ended. */
  List<Part> end() {
    List<Part> parts = new ArrayList<>();
    String rest = take(held.length());
    switch (state) {
      case THOUGHT -> think(parts, rest);
      case TEXT -> {
        if (isBareCall(rest)) {
          called(parts, rest, rest);
        } else {
          say(parts, rest);
        }
      }
      case CALL -> called(parts, rest, format.orElseThrow().begin() + rest);
    }
    return parts;
  }

  private boolean thought(List<Part> parts) {
    int over = held.indexOf(THOUGHT_OVER);
    if (over < 0) {
      think(parts, take(held.length() - heldBack(THOUGHT_OVER)));
      return false;
    }
    think(parts, stripEnd(take(over)));
    take(THOUGHT_OVER.length());
    state = State.TEXT;
    return true;
  }

  private boolean text(List<Part> parts) {
    if (!begun) {
      // Blanks before the first word say nothing; before a mark they belong to the mark.
      int blanks = 0;
      while (blanks < held.length() && Character.isWhitespace(held.charAt(blanks))) {
        blanks++;
      }
      if (blanks == held.length()) {
        return false;
      }
      String start = held.substring(blanks);
      if (marksThoughts && start.startsWith(THINK)) {
        take(blanks + THINK.length());
        state = State.THOUGHT;
        begun = true;
        return true;
      }
      if (marksThoughts && THINK.startsWith(start)) {
        return false;
      }
      begun = true;
    }
    if (isBareCall(held)) {
      return false;
    }
    if (format.isEmpty()) {
      say(parts, take(held.length()));
      return false;
    }
    String mark = format.get().begin();
    int at = held.indexOf(mark);
    if (at < 0) {
      int known = held.length() - heldBack(mark);
      while (known > 0 && Character.isWhitespace(held.charAt(known - 1))) {
        known--;
      }
      say(parts, take(known));
      return false;
    }
    say(parts, stripEnd(take(at)));
    take(mark.length());
    state = State.CALL;
    return true;
  }

  /**
   * Llama's calls are the whole answer and may have no mark: an answer that begins with a brace
   * waits.
   */
  private boolean isBareCall(CharSequence text) {
    return format.equals(Optional.of(CallFormat.LLAMA))
        && !spoke
        && text.toString().stripLeading().startsWith("{");
  }

  private boolean call(List<Part> parts) {
    String end = format.orElseThrow().end();
    int at = end.isEmpty() ? -1 : held.indexOf(end);
    if (at < 0) {
      return false;
    }
    String body = take(at);
    take(end.length());
    called(parts, body, format.orElseThrow().begin() + body + end);
    while (!held.isEmpty() && Character.isWhitespace(held.charAt(0))) {
      take(1);
    }
    state = State.TEXT;
    return true;
  }

  private void called(List<Part> parts, String body, String whole) {
    List<CallText.Call> found = CallText.read(format.orElseThrow(), body);
    if (found.isEmpty()) {
      say(parts, whole);
    }
    for (CallText.Call each : found) {
      parts.add(new Call(calls, callIds.get(), each.name()));
      parts.add(new Arguments(calls, each.arguments()));
      calls++;
    }
  }

  private void think(List<Part> parts, String text) {
    if (!text.isEmpty()) {
      parts.add(new Thought(text));
    }
  }

  private void say(List<Part> parts, String text) {
    // What stands between thoughts or calls and the answer is no more than a gap.
    String said = spoke ? text : text.stripLeading();
    if (!said.isEmpty()) {
      spoke = true;
      parts.add(new Content(said));
    }
  }

  private String take(int length) {
    String taken = held.substring(0, length);
    held.delete(0, length);
    return taken;
  }

  private int heldBack(String mark) {
    for (int length = Math.min(mark.length() - 1, held.length()); length > 0; length--) {
      if (mark.startsWith(held.substring(held.length() - length))) {
        return length;
      }
    }
    return 0;
  }

  private static String stripEnd(String text) {
    return text.stripTrailing();
  }
}
