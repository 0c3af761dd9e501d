package dev.flotilla.bench.report;

import java.util.ArrayList;
import java.util.List;

/** A table: the first column to the left, the others to the right, as numbers stand. */
public final class TextTable {
  private final List<String> header;
  private final List<List<String>> rows = new ArrayList<>();

  /** An empty table. */
  public TextTable(String... header) {
    this.header = List.of(header);
  }

  /**
   * Adds a row.
   *
   * @throws IllegalArgumentException if it has another number of cells than the header
   */
  public void row(String... cells) {
    if (cells.length != header.size()) {
      throw new IllegalArgumentException(
          cells.length + " cells in a table of " + header.size() + " columns");
    }
    rows.add(List.of(cells));
  }

  public List<String> header() {
    return header;
  }

  public List<List<String>> rows() {
    return List.copyOf(rows);
  }

  /**
   * In columns for a terminal; ends with a new line. Signs that move a cursor come as {@code ?}.
   */
  public String plain() {
    int[] widths = widths();
    StringBuilder text = new StringBuilder();
    plain(text, header, widths);
    rows.forEach(row -> plain(text, row, widths));
    return text.toString();
  }

  /** As Markdown; ends with a new line. */
  public String markdown() {
    StringBuilder text = new StringBuilder();
    markdown(text, header);
    text.append("|---|").append("---:|".repeat(header.size() - 1)).append('\n');
    rows.forEach(row -> markdown(text, row));
    return text.toString();
  }

  private int[] widths() {
    int[] widths = header.stream().mapToInt(TextTable::width).toArray();
    for (List<String> row : rows) {
      for (int column = 0; column < widths.length; column++) {
        widths[column] = Math.max(widths[column], width(row.get(column)));
      }
    }
    return widths;
  }

  private static void plain(StringBuilder text, List<String> cells, int[] widths) {
    StringBuilder line = new StringBuilder();
    for (int column = 0; column < widths.length; column++) {
      String cell = printable(cells.get(column));
      String room = " ".repeat(widths[column] - width(cell));
      line.append(column == 0 ? cell + room : "  " + room + cell);
    }
    text.append(line.toString().stripTrailing()).append('\n');
  }

  private static void markdown(StringBuilder text, List<String> cells) {
    text.append('|');
    for (String cell : cells) {
      text.append(' ').append(printable(cell).replace("|", "\\|")).append(" |");
    }
    text.append('\n');
  }

  private static int width(String text) {
    return text.codePointCount(0, text.length());
  }

  /** Text that came from elsewhere, without signs that move a cursor or turn the writing around. */
  static String printable(String text) {
    StringBuilder printable = new StringBuilder();
    text.codePoints()
        .map(c -> Character.isISOControl(c) || Character.getType(c) == Character.FORMAT ? '?' : c)
        .forEach(printable::appendCodePoint);
    return printable.toString();
  }
}
