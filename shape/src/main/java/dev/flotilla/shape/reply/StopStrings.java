package dev.flotilla.shape.reply;

import java.util.List;
import java.util.function.Consumer;

/**
 * The text ends before the first stop string, however it is cut into pieces, where the engine does
 * not see to that. mlx-lm ends only where a stop string ends with a token; elsewhere it cuts the
 * string out and goes on: {@code "The capital of nce is Paris."} for a stop at {@code Fra}.
 */
final class StopStrings implements Stage {
  private final List<String> stops;
  private final StringBuilder held = new StringBuilder();
  private boolean stopped;

  StopStrings(List<String> stops) {
    this.stops = stops;
  }

  /** Whether a stop string came: what the engine says from here on is not wanted. */
  boolean stopped() {
    return stopped;
  }

  @Override
  public void take(Piece piece, Consumer<Piece> next) {
    if (stopped) {
      return;
    }
    switch (piece) {
      case Piece.Text text -> {
        held.append(text.text());
        int found = first();
        if (found >= 0) {
          stopped = true;
          hand(found, next);
          next.accept(new Piece.Finish("stop"));
        } else {
          hand(held.length() - beginning(), next);
        }
      }
      case Piece.Finish finish -> {
        hand(held.length(), next);
        next.accept(finish);
      }
      default -> next.accept(piece);
    }
  }

  private int first() {
    int first = -1;
    for (String stop : stops) {
      int found = held.indexOf(stop);
      if (found >= 0 && (first < 0 || found < first)) {
        first = found;
      }
    }
    return first;
  }

  /** How many characters at the end may be the beginning of a stop string. */
  private int beginning() {
    int longest = 0;
    for (String stop : stops) {
      for (int length = Math.min(stop.length() - 1, held.length()); length > longest; length--) {
        if (held.indexOf(stop.substring(0, length), held.length() - length) >= 0) {
          longest = length;
        }
      }
    }
    return longest;
  }

  private void hand(int length, Consumer<Piece> next) {
    if (length > 0) {
      String text = held.substring(0, length);
      held.delete(0, length);
      next.accept(new Piece.Text(text));
    }
  }
}
