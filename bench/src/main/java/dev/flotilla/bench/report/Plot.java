package dev.flotilla.bench.report;

import java.util.List;

/**
 * What a plot shows, for a page or a picture.
 *
 * @param title above it
 * @param series what is drawn, at least one with a point
 * @param marks what is pointed at
 */
public record Plot(String title, Axis x, Axis y, List<Series> series, List<Mark> marks) {

  public Plot {
    series = List.copyOf(series);
    marks = List.copyOf(marks);
    if (series.stream().allMatch(s -> s.points().isEmpty())) {
      throw new IllegalArgumentException("plot '" + title + "' has no point");
    }
  }

  /**
   * A direction.
   *
   * @param label with the unit
   * @param logarithmic whether doubling is a step; its values are then above 0. An axis that is not
   *     begins at 0.
   */
  public record Axis(String label, boolean logarithmic) {}

  /** How points are joined. */
  public enum Style {
    /** From left to right. */
    LINE,
    /** In the order in which they come, with their labels beside them. */
    PATH
  }

  /** Points that belong together. */
  public record Series(String name, Style style, List<Point> points) {
    public Series {
      points = List.copyOf(points);
    }
  }

  /**
   * A point.
   *
   * @param label what stands beside it; may be empty
   */
  public record Point(double x, double y, String label) {
    /** A point with nothing beside it. */
    public Point(double x, double y) {
      this(x, y, "");
    }
  }

  /** A place with words to it. */
  public record Mark(double x, double y, String words) {}
}
