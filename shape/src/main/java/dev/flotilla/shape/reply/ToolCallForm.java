package dev.flotilla.shape.reply;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Tool calls have an index that counts from 0, an id that is said once, and begin with id and name
 * and no arguments, as llama-server's do. Engines leave the index out, give every call the same
 * one, repeat the id with each piece, bring a whole call at once, or have no id.
 */
final class ToolCallForm implements Stage {
  private final Supplier<String> ids;

  /** The engine's index to ours. */
  private final Map<Integer, Integer> indexes = new HashMap<>();

  /** Of each engine's index, the id of its latest call. */
  private final Map<Integer, String> latest = new HashMap<>();

  private int count;

  /**
   * @param ids makes ids for calls that have none
   */
  ToolCallForm(Supplier<String> ids) {
    this.ids = ids;
  }

  @Override
  public void take(Piece piece, Consumer<Piece> next) {
    if (!(piece instanceof Piece.ToolCall call)) {
      next.accept(piece);
      return;
    }
    boolean fresh =
        call.index() < 0
            ? call.begins() && !call.id().equals(latest.getOrDefault(-1, "-"))
            : !indexes.containsKey(call.index())
                || (!call.name().isEmpty()
                    && !call.id().isEmpty()
                    && !call.id().equals(latest.get(call.index())));
    if (fresh) {
      String id = call.id().isEmpty() ? ids.get() : call.id();
      latest.put(call.index(), call.id().isEmpty() ? "-" : id);
      indexes.put(call.index(), count);
      next.accept(new Piece.ToolCall(count, id, call.name(), ""));
      count++;
    }
    Integer index = indexes.get(call.index());
    if (index != null && !call.arguments().isEmpty()) {
      next.accept(new Piece.ToolCall(index, "", "", call.arguments()));
    }
  }
}
