package dev.flotilla.cli.output;

import java.util.ArrayList;
import java.util.List;

/**
 * Rows under titles, aligned. On a terminal the last column is cut to the width; anywhere else
 * every value is whole.
 */
public final class Table {
  private static final String GAP = "  ";

  /** The last column is never cut to less than this: a few characters of it would say nothing. */
  private static final int LAST_COLUMN_MIN = 24;

  private final List<String> titles;
  private final List<List<Cell>> rows = new ArrayList<>();

  public Table(List<String> titles) {
    this.titles = List.copyOf(titles);
  }

  /** A value and how it is shown. */
  public record Cell(String text, Style style) {
    public Cell {
      text = Text.printable(text);
    }

    public static Cell of(String text) {
      return new Cell(text, Style.PLAIN);
    }
  }

  public void add(List<Cell> row) {
    if (row.size() != titles.size()) {
      throw new IllegalArgumentException(row.size() + " cells under " + titles.size() + " titles");
    }
    rows.add(List.copyOf(row));
  }

  /**
   * Prints it.
   *
   * @param width characters that fit into a line
   * @return whether something was cut
   */
  public boolean print(Shell shell, int width) {
    int[] widths = new int[titles.size()];
    for (int column = 0; column < widths.length; column++) {
      widths[column] = length(titles.get(column));
      for (List<Cell> row : rows) {
        widths[column] = Math.max(widths[column], length(row.get(column).text()));
      }
    }
    int last = widths.length - 1;
    long before = (long) GAP.length() * last;
    for (int column = 0; column < last; column++) {
      before += widths[column];
    }
    int room = (int) Math.max(LAST_COLUMN_MIN, Math.min(width - before, widths[last]));
    boolean cut = false;
    List<Cell> head = titles.stream().map(title -> new Cell(title, Style.STRONG)).toList();
    printRow(shell, head, widths, room);
    for (List<Cell> row : rows) {
      cut |= printRow(shell, row, widths, room);
    }
    return cut;
  }

  private static boolean printRow(Shell shell, List<Cell> row, int[] widths, int room) {
    StringBuilder line = new StringBuilder();
    boolean cut = false;
    for (int column = 0; column < row.size(); column++) {
      Cell cell = row.get(column);
      String text = cell.text();
      boolean last = column == row.size() - 1;
      if (last && length(text) > room) {
        text = text.substring(0, text.offsetByCodePoints(0, room - 1)) + '…';
        cut = true;
      }
      line.append(cell.style().apply(text, shell.colours()));
      if (!last) {
        line.repeat(' ', widths[column] - length(text)).append(GAP);
      }
    }
    shell.out().println(line.toString().stripTrailing());
    return cut;
  }

  private static int length(String text) {
    return text.codePointCount(0, text.length());
  }
}
