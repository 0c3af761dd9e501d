package dev.flotilla.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Page.EmulateMediaOptions;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.Media;
import dev.flotilla.bench.measure.ArmRuns;
import dev.flotilla.bench.measure.Engine;
import dev.flotilla.bench.measure.Level;
import dev.flotilla.bench.measure.Load;
import dev.flotilla.bench.measure.Result;
import dev.flotilla.bench.measure.Run;
import dev.flotilla.bench.measure.Runs;
import dev.flotilla.bench.measure.Sweep;
import dev.flotilla.testkit.real.Chromium;
import dev.flotilla.testkit.real.Needs;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reports in a real browser: opened from a file, as one that came by mail is. */
final class PageBrowserTest {
  private static final String HOSTILE =
      "</script><script>document.title='taken'</script><img src=x onerror=alert(1)>\"'&\u202e";

  /** How many points of all plots are neither empty nor of the page's colour. */
  private static final String INKED =
      """
      () => [...document.querySelectorAll('.plot canvas')].map(canvas => {
        const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        let inked = 0;
        for (let i = 3; i < data.length; i += 4) { if (data[i] > 0) inked++; }
        return inked;
      })
      """;

  private static @Nullable Chromium chromium;

  @TempDir Path folder;

  private final List<String> complaints = new ArrayList<>();

  @BeforeAll
  static void start() {
    Needs.nothingMissing(Chromium.whyAbsent());
    chromium = Chromium.start();
  }

  @AfterAll
  static void stop() {
    if (chromium != null) {
      chromium.close();
    }
  }

  @Test
  void aRunsPageDrawsItsPlots() throws IOException {
    var page = open(RunPage.of(Runs.result(Runs.trace())), 1200);

    assertDrawn(page, 4);
    assertThat(page.locator("h1").textContent())
        .isEqualTo("Benchmark of HuggingFaceTB/SmolLM2-135M");
    assertThat(page.locator(".findings .misleads").first().textContent())
        .startsWith("These numbers mislead. 2 of 9 requests failed");
    assertThat(page.locator(".table table").count()).isEqualTo(7);
  }

  @Test
  void aSweepsPageNamesTheKnee() throws IOException {
    var page = open(SweepPage.of(sweep("SmolLM2", 10)), 1200);

    assertDrawn(page, 3);
    assertThat(page.locator("main p").first().textContent())
        .isEqualTo("Knee: 4: beyond it you pay 1.6 × latency for 22 % more tok/s (at 8).");
  }

  @Test
  void comparisonsArmsAndEnginesHavePages() throws IOException {
    Result run = Runs.result(Runs.steady(2, 5, 50, 10));
    List<Result> four = List.of(run, run, run, run);
    assertDrawn(open(ComparisonPage.of("one", sweep("m", 10), "two", sweep("m", 12)), 1200), 1);
    assertDrawn(open(ComparisonPage.of("one", four, "two", four), 1200), 0);
    assertDrawn(
        open(
            ArmsPage.of(
                List.of(
                    new ArmRuns("A", "one worker", four, Map.of("kitchen", 10L)),
                    new ArmRuns("B", "both machines", four, Map.of("kitchen", 5L, "attic", 5L)))),
            1200),
        1);
    assertDrawn(open(EnginesPage.of("agent", List.of(engine("llamacpp", run))), 1200), 1);
  }

  @Test
  void whatAServerSaysIsText() throws IOException {
    Run trace = Runs.trace();
    Run hostile =
        new Run(
            new Load(HOSTILE, HOSTILE, HOSTILE, HOSTILE, 9, 0, 4, 1, 7),
            trace.startedAt(),
            trace.durationNanos(),
            trace.requests(),
            false);

    var page = open(RunPage.of(Runs.result(hostile)), 1200);

    assertDrawn(page, 4);
    assertThat(page.title()).startsWith("Benchmark of </script><script>document.title='taken'");
    assertThat(page.locator("img").count()).isZero();
    assertThat(page.locator("script").count()).isEqualTo(3);
    assertDrawn(open(SweepPage.of(sweep(HOSTILE, 10)), 1200), 3);
    assertDrawn(
        open(
            EnginesPage.of(
                HOSTILE, List.of(engine(HOSTILE, Runs.result(Runs.steady(2, 5, 50, 10))))),
            1200),
        1);
  }

  @Test
  void itIsReadOnAPhoneInTheDarkAndOnPaper() throws IOException {
    var page = open(RunPage.of(Runs.result(Runs.trace())), 360);

    assertThat(page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"))
        .as("nothing sticks out")
        .isEqualTo(true);
    page.emulateMedia(new EmulateMediaOptions().setColorScheme(ColorScheme.DARK));
    assertThat(page.evaluate("() => getComputedStyle(document.body).backgroundColor"))
        .isEqualTo("rgb(14, 19, 23)");
    page.emulateMedia(new EmulateMediaOptions().setMedia(Media.PRINT));
    assertThat(page.evaluate("() => getComputedStyle(document.body).backgroundColor"))
        .isEqualTo("rgb(255, 255, 255)");
    assertDrawn(page, 4);
  }

  @Test
  void theKeyboardReadsValues() throws IOException {
    var page = open(SweepPage.of(sweep("m", 10)), 1200);

    page.locator(".plot").nth(1).focus();
    page.keyboard().press("Home");
    page.keyboard().press("ArrowRight");

    assertThat(page.locator(".plot").nth(1).locator(".u-legend .u-value").first().textContent())
        .isEqualTo("2");
  }

  private com.microsoft.playwright.Page open(Page content, int width) throws IOException {
    Path file = folder.resolve("report.html");
    new ResultFiles().write(file, HtmlPage.of(content));
    var page =
        Objects.requireNonNull(chromium)
            .page(new Browser.NewContextOptions().setViewportSize(width, 800));
    page.onConsoleMessage(message -> complaints.add(message.type() + ": " + message.text()));
    page.onPageError(error -> complaints.add("error: " + error));
    page.onDialog(dialog -> complaints.add("dialog: " + dialog.message()));
    page.onRequest(request -> complaints.addAll(beyond(request.url())));
    page.navigate(file.toUri().toString());
    page.waitForFunction("() => document.documentElement.dataset.drawn !== undefined");
    return page;
  }

  private static List<String> beyond(String url) {
    return url.startsWith("file:") ? List.of() : List.of("request: " + url);
  }

  private void assertDrawn(com.microsoft.playwright.Page page, int plots) {
    assertThat(complaints).isEmpty();
    assertThat((List<?>) page.evaluate(INKED))
        .hasSize(plots)
        .allSatisfy(inked -> assertThat(((Number) inked).intValue()).isGreaterThan(1_000));
  }

  private static Sweep sweep(String model, long stepMs) {
    List<Level> levels = new ArrayList<>();
    for (int concurrency : new int[] {1, 2, 4}) {
      levels.add(level(concurrency, stepMs));
    }
    levels.add(level(8, 2 * stepMs));
    Load load = new Load("http://h/v1", model, "openai-chat", "random", 0, 0, 1, 1, 1);
    return new Sweep(load, Instant.EPOCH, levels, List.of());
  }

  private static Level level(int concurrency, long stepMs) {
    return new Level(concurrency, List.of(Runs.result(Runs.steady(concurrency, 3, 50, stepMs))));
  }

  private static Engine engine(String name, Result result) {
    return new Engine(
        name,
        Optional.empty(),
        name,
        "http://h",
        Instant.EPOCH,
        new Engine.Machine(name, name, name),
        List.of(
            new Engine.AtConcurrency(
                2, 10, Optional.of(result), OptionalLong.empty(), Optional.empty(), "")),
        1,
        false);
  }
}
