package dev.flotilla.shape.reply;

import java.util.function.Consumer;

/**
 * One way in which what engines say differs from what is promised, for one answer. Gets the
 * answer's pieces in order and hands pieces on. What it holds back it hands on before the {@link
 * Piece.Finish}, which comes last. However the pieces are cut, what is handed on says the same.
 */
interface Stage {
  void take(Piece piece, Consumer<Piece> next);
}
