package dev.flotilla.bench.report;

import java.awt.AWTError;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.FontMetrics;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Path2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import javax.imageio.ImageIO;

/**
 * A plot as a picture for a README: 1200 by 675, light, without a display. Both axes begin at 0,
 * but for logarithmic ones.
 */
public final class PlotPicture {
  static final int WIDTH = 1200;
  static final int HEIGHT = 675;

  private static final int LEFT = 110;
  private static final int RIGHT = 60;
  private static final int TOP = 80;
  private static final int BOTTOM = 90;
  private static final int TICKS = 6;
  private static final Color TEXT = new Color(0x172026);
  private static final Color DIM = new Color(0x55626c);
  private static final Color LINE = new Color(0xdfe4e8);
  private static final List<Color> COLOURS =
      List.of(new Color(0x0f706a), new Color(0xa4520b), new Color(0x5a4fb0), new Color(0x667380));

  private final Plot plot;
  private final Graphics2D pen;
  private final Range x;
  private final Range y;

  private PlotPicture(Plot plot, Graphics2D pen) {
    this.plot = plot;
    this.pen = pen;
    this.x = Range.of(plot, plot.x(), Plot.Point::x);
    this.y = Range.of(plot, plot.y(), Plot.Point::y);
  }

  /**
   * The picture as PNG.
   *
   * @throws IOException with one sentence if this machine can't draw: it has no fonts, or a Java
   *     without its desktop part
   */
  public static byte[] png(Plot plot) throws IOException {
    // Else a DISPLAY that nobody answers for fails what needs none.
    System.setProperty("java.awt.headless", "true");
    try {
      BufferedImage image = new BufferedImage(WIDTH, HEIGHT, BufferedImage.TYPE_INT_RGB);
      Graphics2D pen = image.createGraphics();
      try {
        new PlotPicture(plot, pen).draw();
      } finally {
        pen.dispose();
      }
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      ImageIO.write(image, "png", out);
      return out.toByteArray();
    } catch (RuntimeException | LinkageError | InternalError | AWTError e) {
      throw new IOException(
          "no picture was drawn: this machine has no fonts that Java finds; install fontconfig and"
              + " a font, such as fonts-dejavu-core",
          e);
    }
  }

  private void draw() {
    pen.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
    pen.setRenderingHint(
        RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
    pen.setColor(Color.WHITE);
    pen.fillRect(0, 0, WIDTH, HEIGHT);
    pen.setColor(TEXT);
    pen.setFont(font(Font.BOLD, 24));
    pen.drawString(TextTable.printable(plot.title()), LEFT, 40);
    pen.setFont(font(Font.PLAIN, 17));
    axes();
    for (int series = 0; series < plot.series().size(); series++) {
      series(plot.series().get(series), COLOURS.get(series % COLOURS.size()));
    }
    for (Plot.Mark mark : plot.marks()) {
      pen.setColor(TEXT);
      pen.setStroke(new BasicStroke(2));
      pen.draw(new Ellipse2D.Double(atX(mark.x()) - 13, atY(mark.y()) - 13, 26, 26));
      pen.drawString(
          TextTable.printable(mark.words()),
          (float) atX(mark.x()) + 14,
          (float) atY(mark.y()) + 30);
    }
    legend();
  }

  private void axes() {
    pen.setStroke(new BasicStroke(1));
    FontMetrics metrics = pen.getFontMetrics();
    for (double value : x.ticks()) {
      String text = words(value);
      pen.setColor(LINE);
      pen.drawLine((int) atX(value), TOP, (int) atX(value), HEIGHT - BOTTOM);
      pen.setColor(DIM);
      pen.drawString(text, (int) atX(value) - metrics.stringWidth(text) / 2, HEIGHT - BOTTOM + 26);
    }
    for (double value : y.ticks()) {
      String text = words(value);
      pen.setColor(LINE);
      pen.drawLine(LEFT, (int) atY(value), WIDTH - RIGHT, (int) atY(value));
      pen.setColor(DIM);
      pen.drawString(text, LEFT - 12 - metrics.stringWidth(text), (int) atY(value) + 6);
    }
    pen.setColor(DIM);
    String below = TextTable.printable(plot.x().label());
    pen.drawString(
        below, (LEFT + WIDTH - RIGHT - metrics.stringWidth(below)) / 2, HEIGHT - BOTTOM + 60);
    pen.drawString(TextTable.printable(plot.y().label()), 20, TOP - 14);
  }

  private void series(Plot.Series series, Color colour) {
    pen.setColor(colour);
    pen.setStroke(new BasicStroke(3, BasicStroke.CAP_ROUND, BasicStroke.JOIN_ROUND));
    Path2D line = new Path2D.Double();
    for (Plot.Point point : series.points()) {
      if (line.getCurrentPoint() == null) {
        line.moveTo(atX(point.x()), atY(point.y()));
      } else {
        line.lineTo(atX(point.x()), atY(point.y()));
      }
    }
    pen.draw(line);
    for (Plot.Point point : series.points()) {
      pen.setColor(colour);
      pen.fill(new Ellipse2D.Double(atX(point.x()) - 6, atY(point.y()) - 6, 12, 12));
      label(point.label(), atX(point.x()), atY(point.y()));
    }
  }

  /** Above its point, to the left where there is room: most lines rise to the right. */
  private void label(String words, double x, double y) {
    String text = TextTable.printable(words);
    int width = pen.getFontMetrics().stringWidth(text);
    pen.drawString(text, (float) (x - width - 12 > LEFT ? x - 12 - width : x + 12), (float) y - 12);
  }

  private void legend() {
    if (plot.series().size() < 2) {
      return;
    }
    int left = WIDTH - RIGHT;
    for (int series = plot.series().size() - 1; series >= 0; series--) {
      String name = TextTable.printable(plot.series().get(series).name());
      left -= pen.getFontMetrics().stringWidth(name);
      pen.setColor(TEXT);
      pen.drawString(name, left, TOP - 14);
      pen.setColor(COLOURS.get(series % COLOURS.size()));
      pen.fill(new Ellipse2D.Double(left - 18, TOP - 26, 12, 12));
      left -= 40;
    }
  }

  private double atX(double value) {
    return LEFT + x.share(value) * (WIDTH - LEFT - RIGHT);
  }

  private double atY(double value) {
    return HEIGHT - BOTTOM - y.share(value) * (HEIGHT - TOP - BOTTOM);
  }

  private static Font font(int style, int size) {
    return new Font(Font.SANS_SERIF, style, size);
  }

  private static String words(double value) {
    return value == Math.rint(value)
        ? String.format(Locale.ROOT, "%,d", (long) value)
        : String.format(Locale.ROOT, "%.2f", value);
  }

  /** From where to where an axis goes. */
  record Range(double low, double high, boolean logarithmic) {

    static Range of(Plot plot, Plot.Axis axis, ToDoubleFunction<Plot.Point> value) {
      double[] values =
          plot.series().stream().flatMap(s -> s.points().stream()).mapToDouble(value).toArray();
      double least = Arrays.stream(values).min().orElse(0);
      double most = Arrays.stream(values).max().orElse(1);
      if (axis.logarithmic()) {
        return new Range(least, most > least ? most : least * 2, true);
      }
      return new Range(0, most > 0 ? most * 1.08 : 1, false);
    }

    double share(double value) {
      return logarithmic
          ? Math.log(value / low) / Math.log(high / low)
          : (value - low) / (high - low);
    }

    /** Round values in even steps of 1, 2 or 5; doublings on a logarithmic axis. */
    List<Double> ticks() {
      List<Double> ticks = new ArrayList<>();
      if (logarithmic) {
        for (double value = low; value <= high * 1.0001; value *= 2) {
          ticks.add(value);
        }
        return ticks;
      }
      double rough = (high - low) / TICKS;
      double magnitude = Math.pow(10, Math.floor(Math.log10(rough)));
      double step = magnitude;
      for (double factor : new double[] {10, 5, 2, 1}) {
        if (factor * magnitude >= rough) {
          step = factor * magnitude;
        }
      }
      for (int tick = 0; tick * step <= high; tick++) {
        ticks.add(tick * step);
      }
      return ticks;
    }
  }
}
