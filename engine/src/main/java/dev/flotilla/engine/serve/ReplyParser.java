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
 * of a mark is held back until it is known. A call is said when its name is known, and its
 * arguments as they come; what turns out to be no call is content. However an answer is cut into
 * pieces, together the parts say the same.
 *
 * <p>Where a call has to be made, what the answer says beside thoughts is a call, and what is cut
 * off before its call's name is known is not told: it is no content.
 *
 * <p>States: {@code THOUGHT → TEXT ⇄ CALL}; from a call whose arguments are no JSON {@code BROKEN},
 * up to the mark that ends it; and {@code OVER} where one call was wanted and is there. For one
 * answer, one thread.
 */
final class ReplyParser {
  private static final String THINK = "<think>";
  private static final String THOUGHT_OVER = "</think>";

  private enum State {
    THOUGHT,
    TEXT,
    CALL,
    BROKEN,
    OVER
  }

  private final Optional<CallFormat> format;
  private final boolean oneCall;
  private final boolean mustCall;
  private final Supplier<String> callIds;
  private final boolean marksThoughts;
  private final StringBuilder held = new StringBuilder();
  private final CallSink sink = new Sink();
  private State state;
  private boolean begun;
  private boolean spoke;

  /** Blanks that come now stand between a call and what follows it. */
  private boolean afterCall;

  private Optional<CallReader> reader = Optional.empty();

  /** The mark behind which calls are read; empty where a bare object is. */
  private String mark = "";

  /** What was read there since the last whole call. */
  private final StringBuilder since = new StringBuilder();

  private boolean callIsOpen;
  private int wholeCalls;
  private int wholeBefore;
  private int calls;

  /** What was said of arguments and is not yet a part. */
  private final StringBuilder arguments = new StringBuilder();

  private final List<Part> parts = new ArrayList<>();

  /**
   * For one answer.
   *
   * @param marksThoughts whether {@code <think>} is a mark
   * @param inThought whether the prompt ended with it already
   * @param format how calls are written, where tools may be called
   * @param oneCall whether the answer ends with its first call
   * @param mustCall whether the answer is held to calls
   */
  ReplyParser(
      boolean marksThoughts,
      boolean inThought,
      Optional<CallFormat> format,
      boolean oneCall,
      boolean mustCall,
      Supplier<String> callIds) {
    this.marksThoughts = marksThoughts;
    this.format = format;
    this.oneCall = oneCall;
    this.mustCall = mustCall;
    this.callIds = callIds;
    this.state = inThought ? State.THOUGHT : State.TEXT;
  }

  /** How many calls were said. */
  int calls() {
    return calls;
  }

  /** Whether the answer ends with its first call. */
  boolean wantsOneCall() {
    return oneCall && format.isPresent();
  }

  /** Whether the one call that was wanted is whole: what the model says after it is not read. */
  boolean over() {
    return state == State.OVER;
  }

  /** More of the answer; what can be said of it by now. */
  List<Part> add(String piece) {
    if (piece.isEmpty()) {
      return List.of();
    }
    held.append(piece);
    boolean more = true;
    while (more) {
      more =
          switch (state) {
            case THOUGHT -> thought();
            case TEXT -> text();
            case CALL -> call();
            case BROKEN -> broken();
            case OVER -> unread();
          };
    }
    return said();
  }

  /** The answer has ended. */
  List<Part> end() {
    String rest = take(held.length());
    switch (state) {
      case THOUGHT -> think(rest);
      case TEXT -> {
        if (!mustCall || !beginsCall(rest.strip())) {
          say(afterCall ? rest.stripLeading() : rest);
        }
      }
      case CALL -> {
        if (!callIsOpen && !mustCall) {
          unfinished();
        }
      }
      case BROKEN -> arguments.append(rest);
      case OVER -> {
        // What comes after the one call is not read.
      }
    }
    return said();
  }

  private boolean beginsCall(String rest) {
    return format.map(CallFormat::begin).orElse("").startsWith(rest);
  }

  private boolean unread() {
    held.setLength(0);
    return false;
  }

  private List<Part> said() {
    flush();
    List<Part> all = List.copyOf(parts);
    parts.clear();
    return all;
  }

  private boolean thought() {
    int over = held.indexOf(THOUGHT_OVER);
    if (over < 0) {
      think(take(held.length() - heldBack(THOUGHT_OVER)));
      return false;
    }
    think(stripEnd(take(over)));
    take(THOUGHT_OVER.length());
    state = State.TEXT;
    return true;
  }

  private boolean text() {
    if (!begun || afterCall) {
      // Blanks before the first word say nothing; before a mark they belong to the mark.
      int blanks = blanks();
      if (blanks == held.length()) {
        return false;
      }
      if (!begun) {
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
      } else {
        take(blanks);
        afterCall = false;
      }
    }
    if (isBareCall()) {
      take(blanks());
      read("");
      return true;
    }
    if (format.isEmpty()) {
      say(take(held.length()));
      return false;
    }
    String begin = format.get().begin();
    int at = held.indexOf(begin);
    if (at < 0) {
      int known = held.length() - heldBack(begin);
      while (known > 0 && Character.isWhitespace(held.charAt(known - 1))) {
        known--;
      }
      say(take(known));
      return false;
    }
    say(stripEnd(take(at)));
    take(begin.length());
    read(begin);
    return true;
  }

  private int blanks() {
    int blanks = 0;
    while (blanks < held.length() && Character.isWhitespace(held.charAt(blanks))) {
      blanks++;
    }
    return blanks;
  }

  /** Llama's calls are the whole answer and may have no mark: it begins with a brace. */
  private boolean isBareCall() {
    int blanks = blanks();
    return format.equals(Optional.of(CallFormat.LLAMA))
        && !spoke
        && calls == 0
        && blanks < held.length()
        && held.charAt(blanks) == '{';
  }

  private void read(String behind) {
    mark = behind;
    since.setLength(0);
    wholeBefore = wholeCalls;
    reader = Optional.of(format.orElseThrow().reader(sink));
    state = State.CALL;
  }

  private boolean call() {
    CallReader reading = reader.orElseThrow();
    CallReader.Now now = CallReader.Now.INSIDE;
    int at = 0;
    while (at < held.length() && now == CallReader.Now.INSIDE && !(oneCall && wholeCalls > 0)) {
      char c = held.charAt(at);
      at++;
      since.append(c);
      now = reading.next(c);
    }
    String last = take(at);
    if (oneCall && wholeCalls > 0) {
      state = State.OVER;
      return true;
    }
    switch (now) {
      case INSIDE -> {
        return false;
      }
      case OVER -> {
        state = State.TEXT;
        afterCall = true;
      }
      case TEXT -> backToText();
      case BROKEN -> {
        arguments.append(last.charAt(last.length() - 1));
        state = State.BROKEN;
      }
    }
    return true;
  }

  private void backToText() {
    String back = since.toString();
    state = State.TEXT;
    if (wholeCalls > wholeBefore) {
      afterCall = true;
    } else {
      // Said at once, else it would be found again.
      int more = mark.isEmpty() ? 1 : 0;
      say(mark + back.substring(0, more));
      back = back.substring(more);
    }
    held.insert(0, back);
  }

  /** The answer ended in the middle of what was no call yet. */
  private void unfinished() {
    if (wholeCalls == wholeBefore) {
      say(mark + since);
    } else if (!format.orElseThrow().end().startsWith(since.toString().strip())) {
      say(since.toString());
    }
  }

  private boolean broken() {
    String end = format.orElseThrow().end();
    int at = end.isEmpty() ? -1 : held.indexOf(end);
    if (at < 0) {
      arguments.append(take(held.length() - heldBack(end)));
      return false;
    }
    arguments.append(take(at));
    take(end.length());
    flush();
    callIsOpen = false;
    wholeCalls++;
    afterCall = true;
    state = oneCall ? State.OVER : State.TEXT;
    return true;
  }

  private final class Sink implements CallSink {
    @Override
    public void begins(String name) {
      flush();
      parts.add(new Call(calls, callIds.get(), name));
      calls++;
      callIsOpen = true;
    }

    @Override
    public void says(CharSequence more) {
      arguments.append(more);
    }

    @Override
    public void ends(int beyond) {
      flush();
      callIsOpen = false;
      wholeCalls++;
      since.delete(0, since.length() - beyond);
    }
  }

  private void flush() {
    if (!arguments.isEmpty()) {
      parts.add(new Arguments(calls - 1, arguments.toString()));
      arguments.setLength(0);
    }
  }

  private void think(String text) {
    if (!text.isEmpty()) {
      parts.add(new Thought(text));
    }
  }

  private void say(String text) {
    // What stands between thoughts or calls and the answer is no more than a gap.
    String said = spoke ? text : text.stripLeading();
    if (!said.isEmpty()) {
      flush();
      spoke = true;
      parts.add(new Content(said));
    }
  }

  private String take(int length) {
    String taken = held.substring(0, length);
    held.delete(0, length);
    return taken;
  }

  private int heldBack(String awaited) {
    for (int length = Math.min(awaited.length() - 1, held.length()); length > 0; length--) {
      if (awaited.startsWith(held.substring(held.length() - length))) {
        return length;
      }
    }
    return 0;
  }

  private static String stripEnd(String text) {
    return text.stripTrailing();
  }
}
