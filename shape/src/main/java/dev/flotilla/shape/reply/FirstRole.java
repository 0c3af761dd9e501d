package dev.flotilla.shape.reply;

import java.util.function.Consumer;

/** Who speaks is said first and once; mlx-lm says it with every piece, and never alone. */
final class FirstRole implements Stage {
  private boolean said;

  /** The role went by without a look at it. */
  void saw() {
    said = true;
  }

  boolean said() {
    return said;
  }

  @Override
  public void take(Piece piece, Consumer<Piece> next) {
    if (!said) {
      said = true;
      next.accept(new Piece.Role());
    }
    if (!(piece instanceof Piece.Role)) {
      next.accept(piece);
    }
  }
}
