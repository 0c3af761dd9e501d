package dev.flotilla.hub;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Page;
import dev.flotilla.testkit.real.Chromium;
import dev.flotilla.testkit.real.Needs;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** A stored report in a real browser: its own scripts run, and reach nothing of the hub. */
final class ReportBrowserTest {

  /** Tries what a page of this hub could do, and writes what came of it into its own text. */
  private static final String HOSTILE =
      """
      <!doctype html><title>hostile</title><p id="own">own script did not run</p><ul id="said"></ul>
      <iframe src="/"></iframe>
      <script>
        function say(text) {
          const li = document.createElement('li');
          li.textContent = text;
          document.getElementById('said').append(li);
        }
        document.getElementById('own').textContent = 'own script ran';
        say('origin ' + self.origin);
        try { say('storage ' + sessionStorage.length); } catch (e) { say('storage refused'); }
        try { say('cookie ' + document.cookie); } catch (e) { say('cookie refused'); }
        say('opener ' + (window.opener === null ? 'none' : 'there'));
        fetch('/api/status').then(() => say('api answered'), () => say('api refused'));
        fetch('/api/reports/1', {method: 'DELETE', mode: 'no-cors'})
          .then(() => say('delete sent'), () => say('delete refused'));
        say('popup ' + (window.open('/') ? 'opened' : 'refused'));
      </script>
      <img src="/ui/assets/icon.svg" onerror="say('picture refused')" onload="say('picture shown')">
      """;

  @TempDir private Path home;

  @Test
  void itTurnsUpInTheListIsOpenedByKeyboardAndReachesNothing() throws Exception {
    Needs.nothingMissing(Chromium.whyAbsent());
    try (Hub hub = hub();
        Chromium chromium = Chromium.start();
        Page dashboard = chromium.page()) {
      dashboard.navigate(hub.address() + "/");
      assertThat(dashboard.locator("#connection")).hasText("live");
      assertThat(dashboard.locator("#reports")).containsText("No report yet");
      dashboard.evaluate("sessionStorage.setItem('flotilla.key', 'sk-secret')");

      store(hub, "sweep of talk");

      assertThat(dashboard.locator("#reports a")).hasText("sweep of talk");
      assertThat(dashboard.locator("#reports .figures")).containsText("812.4");
      dashboard.locator("#reports a").focus();
      Page report = dashboard.waitForPopup(() -> dashboard.keyboard().press("Enter"));
      assertThat(report.locator("#own")).hasText("own script ran");
      assertThat(report.locator("#said")).containsText("api refused");
      assertThat(report.locator("#said")).containsText("delete refused");
      assertThat(report.locator("#said")).containsText("picture refused");
      assertThat(report.locator("#said li").allTextContents())
          .contains("origin null", "storage refused", "opener none", "popup refused")
          .doesNotContain("api answered", "delete sent", "picture shown");
      assertThat(report.frames()).noneMatch(frame -> frame.url().equals(hub.address() + "/"));
      assertThat(dashboard.locator("#reports a")).hasText("sweep of talk");
    }
  }

  @Test
  void aPhoneShowsReportsAsCardsAndNeverScrollsSideways() throws Exception {
    Needs.nothingMissing(Chromium.whyAbsent());
    try (Hub hub = hub();
        Chromium chromium = Chromium.start();
        Page phone = chromium.page(new Browser.NewContextOptions().setViewportSize(390, 844))) {
      store(hub, "x".repeat(200));
      phone.navigate(hub.address() + "/");
      assertThat(phone.locator("#connection")).hasText("live");

      assertThat(phone.locator("#reports a")).isVisible();
      assertThat(phone.evaluate("document.documentElement.scrollWidth")).isEqualTo(390);
      assertThat(phone.locator("#reports thead").boundingBox().height).isLessThan(5);
    }
  }

  private static void store(Hub hub, String title) throws Exception {
    ObjectNode report =
        JsonMapper.shared()
            .createObjectNode()
            .put("kind", "sweep")
            .put("title", title)
            .put("model", "talk")
            .put("html", HOSTILE);
    report.withArray("figures").addObject().put("name", "out tok/s").put("value", "812.4");
    report.withObject("summary").put("output_throughput", 812.4);
    assertThat(HubCalls.post(hub, "/api/reports", report.toString()).statusCode()).isEqualTo(200);
  }

  private Hub hub() throws HubRefused {
    return Hub.start(HubConfig.local(home));
  }
}
