package dev.flotilla.bench.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The picture for a README. */
final class PlotPictureTest {
  private static final Plot PLOT =
      new Plot(
          "Latency against throughput",
          new Plot.Axis("output tok/s", false),
          new Plot.Axis("median E2EL (ms)", false),
          List.of(
              new Plot.Series(
                  "median",
                  Plot.Style.PATH,
                  List.of(
                      new Plot.Point(100, 140, "c=1"),
                      new Plot.Point(190, 150, "c=2"),
                      new Plot.Point(180, 310, "c=4"))),
              new Plot.Series(
                  "p99", Plot.Style.LINE, List.of(new Plot.Point(50, 50), new Plot.Point(60, 60)))),
          List.of(new Plot.Mark(190, 150, "knee")));

  @TempDir Path folder;

  /** Draws in a Java of its own, as a test of what surrounds it needs. */
  static final class Drawing {
    private Drawing() {}

    public static void main(String[] args) {
      try {
        System.out.println("drawn: " + PlotPicture.png(PLOT).length);
      } catch (IOException e) {
        System.out.println(e.getMessage());
      }
    }
  }

  @Test
  void thePlotIsDrawn() throws IOException {
    BufferedImage image = ImageIO.read(new ByteArrayInputStream(PlotPicture.png(PLOT)));

    assertThat(image.getWidth()).isEqualTo(PlotPicture.WIDTH);
    assertThat(image.getHeight()).isEqualTo(PlotPicture.HEIGHT);
    assertThat(count(image, 0x0f706a)).as("the first series' colour").isGreaterThan(500);
    assertThat(count(image, 0xa4520b)).as("the second's").isGreaterThan(50);
  }

  @Test
  void aLogarithmicAxisDoubles() {
    PlotPicture.Range range = new PlotPicture.Range(1, 16, true);

    assertThat(range.ticks()).containsExactly(1.0, 2.0, 4.0, 8.0, 16.0);
    assertThat(range.share(4)).isCloseTo(0.5, within(1e-9));
    assertThat(new PlotPicture.Range(0, 205.2, false).ticks())
        .containsExactly(0.0, 50.0, 100.0, 150.0, 200.0);
  }

  @Test
  void noDisplayIsNeeded() throws Exception {
    assertThat(draw("DISPLAY", "127.0.0.1:77")).startsWith("drawn: ");
  }

  @Test
  void aMachineWithoutFontsIsToldSoInOneLine() throws Exception {
    Path none =
        Files.writeString(
            folder.resolve("fonts.conf"), "<?xml version=\"1.0\"?><fontconfig></fontconfig>");

    assertThat(draw("FONTCONFIG_FILE", none.toString()))
        .isEqualTo(
            "no picture was drawn: this machine has no fonts that Java finds; install fontconfig"
                + " and a font, such as fonts-dejavu-core");
  }

  /** In a home of its own: Java keeps there what fonts it once found. */
  private String draw(String variable, String value) throws Exception {
    ProcessBuilder java =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Duser.home=" + folder,
            "-cp",
            System.getProperty("java.class.path"),
            Drawing.class.getName());
    java.environment().put(variable, value);
    Process process = java.redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8).strip();
    assertThat(process.waitFor()).isZero();
    return said;
  }

  private static long count(BufferedImage image, int colour) {
    long count = 0;
    for (int x = 0; x < image.getWidth(); x++) {
      for (int y = 0; y < image.getHeight(); y++) {
        if ((image.getRGB(x, y) & 0xffffff) == colour) {
          count++;
        }
      }
    }
    return count;
  }
}
