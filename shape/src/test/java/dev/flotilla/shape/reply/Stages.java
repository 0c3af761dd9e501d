package dev.flotilla.shape.reply;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Sends text through one stage, cut as one likes, and joins what comes out. */
final class Stages {
  private Stages() {}

  /** What comes out, neighbours of one kind joined: {@code text:…}, {@code thought:…} and so on. */
  static List<String> through(Stage stage, List<Piece> pieces) {
    List<Piece> out = new ArrayList<>();
    pieces.forEach(piece -> stage.take(piece, out::add));
    List<String> told = new ArrayList<>();
    String kind = "";
    for (Piece piece : out) {
      String next =
          switch (piece) {
            case Piece.Text _ -> "text:";
            case Piece.Thought _ -> "thought:";
            case Piece.ToolCall call -> call.name() + "(" + call.arguments() + ")";
            case Piece.Finish finish -> finish.reason();
            case Piece.Role _ -> "role";
            case Piece.Unknown unknown -> unknown.field();
          };
      String text =
          switch (piece) {
            case Piece.Text each -> each.text();
            case Piece.Thought each -> each.text();
            default -> "";
          };
      if (next.equals(kind) && !text.isEmpty()) {
        told.set(told.size() - 1, told.getLast() + text);
      } else {
        told.add(next + text);
      }
      kind = next;
    }
    return told;
  }

  /** The text in one piece, and its end. */
  static List<Piece> whole(String text, String reason) {
    return List.of(new Piece.Text(text), new Piece.Finish(reason));
  }

  /** The text character by character, and its end. */
  static List<Piece> characters(String text, String reason) {
    List<Piece> pieces = new ArrayList<>();
    for (int i = 0; i < text.length(); i++) {
      pieces.add(new Piece.Text(text.substring(i, i + 1)));
    }
    pieces.add(new Piece.Finish(reason));
    return pieces;
  }

  /** The text cut anywhere, and its end. */
  static List<Piece> cut(String text, String reason, Random random) {
    List<Piece> pieces = new ArrayList<>();
    for (int at = 0; at < text.length(); ) {
      int to = Math.min(text.length(), at + 1 + random.nextInt(7));
      pieces.add(new Piece.Text(text.substring(at, to)));
      at = to;
    }
    pieces.add(new Piece.Finish(reason));
    return pieces;
  }
}
