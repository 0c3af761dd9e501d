package dev.flotilla.hub.spec;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.nodes.Node;

/** Gathers what is wrong with one file, so that all of it is told at once. */
final class Problems {

  /** Problems that are told of one file. */
  static final int TOLD_MAX = 100;

  private static final int SHOWN_CHARS_MAX = 40;

  private final List<Problem> found = new ArrayList<>();
  private int untold;

  void add(Node node, String path, String message) {
    add(node.getStartMark(), path, message);
  }

  void add(Optional<Mark> mark, String path, String message) {
    int line = mark.map(Mark::getLine).orElse(0) + 1;
    int column = mark.map(Mark::getColumn).orElse(0) + 1;
    if (found.size() < TOLD_MAX) {
      found.add(new Problem(line, column, path, message));
    } else {
      untold++;
    }
  }

  boolean none() {
    return found.isEmpty();
  }

  /** All of them by line, and a last one that counts what is left out. */
  List<Problem> sorted() {
    List<Problem> sorted = new ArrayList<>(found);
    sorted.sort(Comparator.comparingInt(Problem::line).thenComparingInt(Problem::column));
    if (untold > 0) {
      Problem last = sorted.getLast();
      sorted.add(new Problem(last.line(), last.column(), "", "and " + untold + " more problems"));
    }
    return List.copyOf(sorted);
  }

  /** What stands in the file, for a message: in backticks, one line, printable, cut. */
  static String shown(String text) {
    StringBuilder shown = new StringBuilder("`");
    text.codePoints()
        .limit(SHOWN_CHARS_MAX)
        .forEach(c ->
            shown.appendCodePoint(
                Character.isISOControl(c) || c == '`' || !Character.isDefined(c) ? '?' : c));
    return shown.append(text.length() > SHOWN_CHARS_MAX ? "…`" : "`").toString();
  }
}
