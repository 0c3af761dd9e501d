package dev.flotilla.shape.reply;

import java.util.function.Consumer;

/**
 * Reasoning that lies in the text between {@code <think>} and {@code </think>} becomes {@link
 * Piece.Thought}. A tag may come in as many pieces as it has characters; what could be the
 * beginning of one is held back until it is or isn't.
 *
 * <ul>
 *   <li>A thought may come anywhere in the text but in code: an answer about think tags stays
 *       whole.
 *   <li>Several thoughts are one reasoning, each on a line of its own.
 *   <li>A thought that never closes is reasoning to its end.
 *   <li>Space around the tags is dropped; an empty thought is none.
 * </ul>
 */
final class ThinkTags implements Stage {
  private static final String OPEN = "<think>";
  private static final String CLOSE = "</think>";

  private final CodeSpans code = new CodeSpans();

  /** What is ready to be handed on, of the kind that {@link #thinking} says. */
  private final StringBuilder ready = new StringBuilder();

  /** Space that is dropped if a tag comes next. */
  private final StringBuilder space = new StringBuilder();

  private boolean thinking;
  private boolean thought;
  private boolean thoughtHere;

  /** Nothing but space has come since the beginning or since the last thought. */
  private boolean atEdge = true;

  /** A thought has just ended: space is dropped. */
  private boolean afterThought;

  /** Characters of a tag that have matched. */
  private int matched;

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
        release();
        if (!thinking) {
          ready.append(space);
        }
        space.setLength(0);
        flush(next);
        next.accept(finish);
      }
      default -> next.accept(piece);
    }
  }

  private void read(char c, Consumer<Piece> next) {
    String tag = thinking ? CLOSE : OPEN;
    if (matched > 0 || c == '<') {
      boolean begins = matched > 0 || thinking || !code.inCode(c);
      if (begins && c == tag.charAt(matched)) {
        matched++;
        if (matched == tag.length()) {
          turn(next);
        }
        return;
      }
      release();
      if (c == '<' && (thinking || !code.inCode(c))) {
        matched = 1;
        return;
      }
    }
    plain(c);
  }

  /** A tag is complete. */
  private void turn(Consumer<Piece> next) {
    matched = 0;
    space.setLength(0);
    flush(next);
    thinking = !thinking;
    if (thinking) {
      thoughtHere = false;
    } else {
      atEdge = true;
      afterThought = true;
    }
  }

  /** What looked like a tag is none. */
  private void release() {
    String tag = thinking ? CLOSE : OPEN;
    int count = matched;
    matched = 0;
    for (int i = 0; i < count; i++) {
      plain(tag.charAt(i));
    }
  }

  private void plain(char c) {
    boolean isSpace = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (thinking) {
      if (isSpace) {
        if (thoughtHere) {
          space.append(c);
        }
        return;
      }
      if (!thoughtHere && thought) {
        ready.append('\n');
      }
      thought = true;
      thoughtHere = true;
    } else {
      code.feed(c);
      if (isSpace && atEdge) {
        if (!afterThought) {
          space.append(c);
        }
        return;
      }
      atEdge = false;
      afterThought = false;
    }
    ready.append(space).append(c);
    space.setLength(0);
  }

  private void flush(Consumer<Piece> next) {
    if (!ready.isEmpty()) {
      String text = ready.toString();
      ready.setLength(0);
      next.accept(
          thinking ? new Piece.Thought(text, ReasoningPlace.REASONING) : new Piece.Text(text));
    }
  }
}
