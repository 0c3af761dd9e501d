package dev.flotilla.testkit.real;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The machine's own Chromium, without a window, driven by Playwright. Nothing is downloaded: the
 * program is the one that {@code FLOTILLA_CHROMIUM} names, or Debian's.
 *
 * <p>To be used by one thread; each page has a profile of its own.
 */
public final class Chromium implements AutoCloseable {
  /** Environment variable with the program's path. */
  public static final String VARIABLE = "FLOTILLA_CHROMIUM";

  private static final double WAIT_MILLIS = 15_000;
  private static final List<String> ARGUMENTS =
      List.of(
          "--no-sandbox",
          "--disable-gpu",
          "--disable-quic",
          "--no-first-run",
          "--disable-background-networking",
          "--disable-component-update",
          "--disable-sync");

  private final Playwright playwright;
  private final Browser browser;

  private Chromium(Playwright playwright, Browser browser) {
    this.playwright = playwright;
    this.browser = browser;
  }

  /** Why no browser can be started here, and what to do; empty where one can. */
  public static Optional<String> whyAbsent() {
    Path program = program();
    return Files.isExecutable(program)
        ? Optional.empty()
        : Optional.of(
            "browser: there is no program "
                + program
                + "; install chromium, or name one in "
                + VARIABLE);
  }

  /**
   * Starts the browser.
   *
   * @throws IllegalStateException where there is none
   */
  public static Chromium start() {
    whyAbsent()
        .ifPresent(reason -> {
          throw new IllegalStateException(reason);
        });
    Playwright playwright =
        Playwright.create(
            new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
    Browser browser =
        playwright
            .chromium()
            .launch(
                new BrowserType.LaunchOptions()
                    .setExecutablePath(program())
                    .setArgs(ARGUMENTS)
                    .setHeadless(true));
    return new Chromium(playwright, browser);
  }

  /** A tab on a desktop, with scripts. */
  public Page page() {
    return page(new Browser.NewContextOptions().setViewportSize(1440, 900));
  }

  /** A tab as the options say; its waits end after 15 s. */
  public Page page(Browser.NewContextOptions options) {
    BrowserContext context = browser.newContext(options);
    context.setDefaultTimeout(WAIT_MILLIS);
    return context.newPage();
  }

  @Override
  public void close() {
    browser.close();
    playwright.close();
  }

  private static Path program() {
    return Path.of(System.getenv().getOrDefault(VARIABLE, "/usr/bin/chromium"));
  }
}
