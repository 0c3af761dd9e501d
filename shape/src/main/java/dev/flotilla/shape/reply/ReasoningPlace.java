package dev.flotilla.shape.reply;

import dev.flotilla.shape.dialect.Promise;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reasoning goes where the promise wants it: into a field of that name, into the text between think
 * tags, or nowhere. vLLM and mlx-lm call the field {@code reasoning}, llama-server {@code
 * reasoning_content}. A thought that nothing follows is left open, as a model leaves it that was
 * cut.
 */
final class ReasoningPlace implements Stage {
  static final String REASONING = "reasoning";
  static final String REASONING_CONTENT = "reasoning_content";

  private final @Nullable Reasoning place;
  private boolean open;
  private boolean afterClose;

  ReasoningPlace(@Nullable Promise promise) {
    this.place = promise == null ? null : promise.reasoning();
  }

  @Override
  public void take(Piece piece, Consumer<Piece> next) {
    switch (piece) {
      case Piece.Thought thought -> thought(thought, next);
      case Piece.Text text -> text(text, next);
      case Piece.ToolCall call -> {
        if (open) {
          open = false;
          next.accept(new Piece.Text("\n</think>\n\n"));
        }
        next.accept(call);
      }
      default -> next.accept(piece);
    }
  }

  private void thought(Piece.Thought thought, Consumer<Piece> next) {
    switch (place) {
      case null -> next.accept(thought);
      case REASONING_CONTENT -> next.accept(new Piece.Thought(thought.text(), REASONING_CONTENT));
      case REASONING -> next.accept(new Piece.Thought(thought.text(), REASONING));
      case INLINE -> {
        next.accept(new Piece.Text((open ? "" : "<think>\n") + thought.text()));
        open = true;
      }
      case OFF -> {
        // The name promises that there is none.
      }
    }
  }

  private void text(Piece.Text text, Consumer<Piece> next) {
    if (!open && !afterClose) {
      next.accept(text);
      return;
    }
    String rest = text.text().stripLeading();
    if (rest.isEmpty()) {
      return;
    }
    next.accept(new Piece.Text(open ? "\n</think>\n\n" + rest : rest));
    open = false;
    afterClose = false;
  }
}
