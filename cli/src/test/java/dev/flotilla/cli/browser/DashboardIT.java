package dev.flotilla.cli.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.LocatorAssertions.ContainsTextOptions;
import com.microsoft.playwright.assertions.LocatorAssertions.HasTextOptions;
import com.microsoft.playwright.assertions.LocatorAssertions.IsEnabledOptions;
import dev.flotilla.cli.fleet.TestFleet;
import dev.flotilla.testkit.real.Chromium;
import dev.flotilla.testkit.real.Needs;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The page of a real {@code flotilla up}: what a person sees of engines that answer and die. */
final class DashboardIT {
  private static final double LIMIT = TestFleet.CHANGE_LIMIT.toMillis();

  /** Keeps every text that a place has shown, however short it stood there. */
  private static final String KEEP_WHAT_IS_SHOWN =
      """
      ([within, words, part]) => {
        window.shown = [];
        const look = () => {
          const place = [...document.querySelectorAll(within)].find(e => e.textContent.includes(words));
          const text = (part ? place?.querySelector(part) : place)?.textContent.trim() ?? '';
          if (text && window.shown.at(-1) !== text) window.shown.push(text);
        };
        new MutationObserver(look).observe(document.body,
          { subtree: true, childList: true, characterData: true });
        look();
      }
      """;

  @Test
  void anEngineThatIsKilledTurnsUpWithoutAReloadAndThePlaygroundStreams(@TempDir Path folder) {
    Needs.nothingMissing(Chromium.whyAbsent());
    try (TestFleet fleet = TestFleet.up(folder, "--workers", "1");
        Chromium chromium = Chromium.start()) {
      Page page = chromium.page();
      page.navigate(fleet.url() + "/");
      assertThat(page.locator("#connection"))
          .hasText("live", new HasTextOptions().setTimeout(LIMIT));
      page.evaluate("window.sameDocument = true");

      playgroundStreams(page);
      killedEngineTurnsUpAndComesBack(page, fleet);

      assertThat(page.evaluate("window.sameDocument")).isEqualTo(true);
    }
  }

  private static void playgroundStreams(Page page) {
    page.evaluate(KEEP_WHAT_IS_SHOWN, List.of("#play-answer", "", ""));
    page.locator("#play-message").fill("Tell me of the sea");
    page.locator("#play-send").click();

    assertThat(page.locator("#play-facts"))
        .containsText("answered by", new ContainsTextOptions().setTimeout(LIMIT));
    assertThat(page.locator("#play-facts"))
        .containsText("tok/s", new ContainsTextOptions().setTimeout(LIMIT));
    assertThat(page.locator("#play-send")).isEnabled(new IsEnabledOptions().setTimeout(LIMIT));
    assertThat(page.locator("#play-answer .failed")).hasCount(0);
    assertThat(shown(page)).as("the answer as it grew").hasSizeGreaterThan(2);
  }

  private static void killedEngineTurnsUpAndComesBack(Page page, TestFleet fleet) {
    JsonNode victim = fleet.workers().getFirst();
    String name = victim.path("name").asString();
    Locator badge =
        page.locator("#workers tr", new Page.LocatorOptions().setHasText(name)).locator(".badge");
    assertThat(badge).hasText("serving", new HasTextOptions().setTimeout(LIMIT));
    page.evaluate(KEEP_WHAT_IS_SHOWN, List.of("#workers tr", name, ".badge"));

    ProcessHandle.of(victim.path("pid").asLong()).orElseThrow().destroyForcibly();

    page.waitForFunction(
        "() => window.shown.length > 2 && window.shown.at(-1) === 'serving'",
        null,
        new Page.WaitForFunctionOptions().setTimeout(LIMIT));
    assertThat(shown(page)).as("states of the killed worker").hasSizeGreaterThan(2);
    assertThat(badge).hasText("serving");
  }

  private static List<?> shown(Page page) {
    return (List<?>) page.evaluate("window.shown");
  }
}
