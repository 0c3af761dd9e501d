package dev.flotilla.shape.reply;

import java.util.function.Consumer;

/** Where the client wants one call at most ({@code parallel_tool_calls} false), the first it is. */
final class OneToolCall implements Stage {
  @Override
  public void take(Piece piece, Consumer<Piece> next) {
    if (!(piece instanceof Piece.ToolCall call) || call.index() == 0) {
      next.accept(piece);
    }
  }
}
