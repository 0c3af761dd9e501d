package dev.flotilla.shape.reply;

import java.util.function.Consumer;

/**
 * Why an answer ended, in OpenAI's words. mlx-lm has said {@code tool_call}; vLLM ends a call that
 * the client named with {@code stop}. An answer that holds tool calls and came to its end has
 * {@code tool_calls}; a word that nobody knows passes.
 */
final class FinishReasons implements Stage {
  private boolean calls;

  @Override
  public void take(Piece piece, Consumer<Piece> next) {
    calls |= piece instanceof Piece.ToolCall;
    next.accept(
        piece instanceof Piece.Finish finish ? new Piece.Finish(word(finish.reason())) : piece);
  }

  private String word(String reason) {
    String usual =
        switch (reason) {
          case "eos", "eos_token", "end_turn", "stop_sequence", "stop_str" -> "stop";
          case "max_tokens", "max_length" -> "length";
          case "tool_call", "tool_use" -> "tool_calls";
          default -> reason;
        };
    return calls && usual.equals("stop") ? "tool_calls" : usual;
  }
}
