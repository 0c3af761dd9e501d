package dev.flotilla.hub.ui;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import dev.flotilla.hub.fleet.WorkerView.State;
import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.server.http.HttpServer;
import dev.flotilla.testkit.real.Chromium;
import dev.flotilla.testkit.real.Needs;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The page in a real browser, over a fleet on paper and a chat route that a test plays. */
class DashboardBrowserTest {
  private static final String NO_KEY = "";
  private static @Nullable Chromium chromium;

  private final PaperFleet fleet = PaperFleet.busy();
  private final Chat chat = new Chat();
  private final List<String> complaints = new ArrayList<>();
  private @Nullable HttpServer server;
  private @Nullable Dashboard dashboard;
  private @Nullable Page page;

  @BeforeAll
  static void startBrowser() {
    Needs.nothingMissing(Chromium.whyAbsent());
    chromium = Chromium.start();
  }

  @AfterAll
  static void stopBrowser() {
    if (chromium != null) {
      chromium.close();
    }
  }

  @AfterEach
  void stop() {
    if (page != null) {
      page.context().close();
    }
    stopHub();
    assertThat(complaints).as("what the browser's console said").isEmpty();
  }

  @Test
  void workerThatDiesTurnsUpWithoutAReloadAndOpenRowsStayOpen() {
    Page page = open(NO_KEY);
    page.evaluate("window.sameDocument = true");
    Locator row = page.locator("#workers tr", new Page.LocatorOptions().setHasText("tower/qwen3"));
    row.locator("summary").focus();
    page.keyboard().press("Enter");
    assertThat(row.getByText("--ctx-size", exact())).isVisible();

    fleet.turn("tower/qwen3-14b-1", State.LOST, "its engine was killed");

    assertThat(row.locator(".badge")).hasText("lost");
    assertThat(row).containsText("its engine was killed");
    assertThat(row.locator("details")).hasAttribute("open", "");
    assertThat(row.locator("summary")).isFocused();
    assertThat(page.locator("#summary")).containsText("1 / 6");
    assertThat(page.evaluate("window.sameDocument")).isEqualTo(true);
  }

  @Test
  void pageComesBackByItselfAfterTheHubWasRestarted() {
    Page page = open(NO_KEY);
    int port = Objects.requireNonNull(server).port();

    stopHub();
    assertThat(page.locator("#connection")).hasText("reconnecting");
    fleet.turn("studio/qwen3-14b-1", State.STOPPED, "stopped while the hub was away");
    startHub(port, NO_KEY);

    assertThat(page.locator("#connection")).hasText("live");
    assertThat(page.locator("#workers")).containsText("stopped while the hub was away");
  }

  @Test
  void playgroundShowsAnAnswerWhileItIsWritten() throws Exception {
    Page page = open(NO_KEY);
    page.locator("#play-system").fill("Be brief.");
    page.locator("#play-message").fill("Say hi");
    page.locator("#play-send").click();

    chat.write(delta("Hello"));
    assertThat(page.locator("#play-answer")).hasText("Hello");
    assertThat(page.locator("#play-stop")).isEnabled();

    chat.write(delta(" there"));
    chat.write("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n");
    chat.write("data: {\"choices\":[],\"usage\":{\"completion_tokens\":2}}\n\n");
    chat.write("data: [DONE]\n\n");
    chat.end();

    assertThat(page.locator("#play-answer")).hasText("Hello there");
    assertThat(page.locator("#play-facts"))
        .containsText("answered by studio/qwen3-14b-1 (attempt 2)");
    assertThat(page.locator("#play-facts")).containsText("2 tokens");
    assertThat(page.locator("#play-facts")).containsText("tok/s");
    assertThat(page.locator("#play-send")).isEnabled();
    assertThat(chat.body())
        .contains("\"model\":\"qwen3-14b\"", "\"stream\":true", "Be brief.", "Say hi");
  }

  @Test
  void playgroundShowsAnErrorThatCameInTheMiddle() throws Exception {
    Page page = open(NO_KEY);
    page.locator("#play-send").click();

    chat.write(delta("Half an ans"));
    chat.write("data: {\"error\":{\"message\":\"tower/qwen3-14b-1 died\",\"code\":\"cut\"}}\n\n");
    chat.end();

    assertThat(page.locator("#play-answer .failed")).hasText("tower/qwen3-14b-1 died");
    assertThat(page.locator("#play-answer")).containsText("Half an ans");
  }

  @Test
  void playgroundSaysThatAStreamEndedTooEarly() throws Exception {
    Page page = open(NO_KEY);
    page.locator("#play-send").click();

    chat.write(delta("Half"));
    chat.end();

    assertThat(page.locator("#play-answer .failed")).containsText("ended before its end");
  }

  @Test
  void playgroundShowsARefusal() {
    chat.refusal = "{\"error\":{\"message\":\"the queue of qwen3-14b is full (256)\"}}";
    Page page = open(NO_KEY);

    page.locator("#play-send").click();

    assertThat(page.locator("#play-answer .failed"))
        .hasText("the queue of qwen3-14b is full (256)");
  }

  @Test
  void stopEndsTheRequest() throws Exception {
    Page page = open(NO_KEY);
    page.locator("#play-send").click();
    chat.write(delta("Endless"));
    assertThat(page.locator("#play-answer")).hasText("Endless");

    page.locator("#play-stop").click();

    assertThat(page.locator("#play-answer")).containsText("(stopped)");
    assertThat(page.locator("#play-send")).isEnabled();
  }

  @Test
  void demandedKeyIsAskedForAndThenSentByStreamAndPlayground() throws Exception {
    startHub(0, "sk-right");
    Page page = visit(Objects.requireNonNull(chromium).page());
    assertThat(page.locator("#key")).isFocused();
    assertThat(page.locator("#workers")).isHidden();

    page.locator("#key").fill("sk-wrong");
    page.keyboard().press("Enter");
    assertThat(page.locator("#sign-in-said")).hasText("That key is not in force here.");

    page.locator("#key").fill("sk-right");
    page.keyboard().press("Enter");
    assertThat(page.locator("#workers")).containsText("tower/qwen3-14b-1");
    assertThat(page.locator("#sign-in")).isHidden();
    assertThat(page.locator("#models")).containsText("$FLOTILLA_KEY");

    page.locator("#play-send").click();
    chat.end();
    assertThat(chat.authorization()).isEqualTo("Bearer sk-right");

    page.reload();
    assertThat(page.locator("#workers")).containsText("tower/qwen3-14b-1");
  }

  @Test
  void hostileTextsRunNothing() {
    String hostile = "\"'><img src=x onerror=hacked=1><script>hacked=1</script><hx-partial>";
    fleet.workers = List.of(PaperFleet.worker(hostile + "/a-1", hostile, State.LOST, hostile, ""));
    fleet.fleet =
        new FleetSnapshot(
            1,
            PaperFleet.names(new FleetSnapshot.Name(hostile, 1, 10, List.of(), 0, hostile)),
            Map.of());
    fleet.events = List.of(PaperFleet.event(1, Severity.ERROR, hostile, hostile, hostile));
    Page page = open(NO_KEY);

    fleet.banner = List.of(new DashboardData.Notice(Severity.ERROR, "later " + hostile));
    fleet.tell();

    assertThat(page.locator("#banner")).containsText("later \"'><img src=x");
    assertThat(page.locator("#play-model option")).hasText(hostile);
    assertThat(page.evaluate("typeof hacked")).isEqualTo("undefined");
    assertThat(page.locator("main img").count()).isZero();
  }

  @Test
  void phoneShowsCardsAndNeverScrollsSideways() {
    startHub(0, NO_KEY);
    Page page =
        visit(
            Objects.requireNonNull(chromium)
                .page(
                    new Browser.NewContextOptions()
                        .setViewportSize(390, 844)
                        .setColorScheme(ColorScheme.DARK)));
    assertThat(page.locator("#connection")).hasText("live");

    assertThat(page.evaluate("document.documentElement.scrollWidth")).isEqualTo(390);
    assertThat(page.locator("#workers thead").boundingBox().height).isLessThan(5);
    assertThat(page.evaluate("getComputedStyle(document.body).colorScheme")).isNotNull();
  }

  @Test
  void tablesAreThereWithoutScripts() {
    startHub(0, NO_KEY);
    Page page =
        visit(
            Objects.requireNonNull(chromium)
                .page(new Browser.NewContextOptions().setJavaScriptEnabled(false)));

    assertThat(page.locator("#workers")).containsText("tower/qwen3-14b-1");
    assertThat(page.locator("#playground")).isHidden();
  }

  private Page open(String key) {
    startHub(0, key);
    Page page = visit(Objects.requireNonNull(chromium).page());
    assertThat(page.locator("#connection")).hasText("live");
    return page;
  }

  private Page visit(Page opened) {
    page = opened;
    opened.onConsoleMessage(message -> {
      // That a request was refused is what some stories are about.
      if (!message.text().startsWith("Failed to load resource")) {
        complaints.add(message.text());
      }
    });
    opened.onPageError(complaints::add);
    opened.navigate("http://127.0.0.1:" + Objects.requireNonNull(server).port() + "/");
    return opened;
  }

  private void startHub(int port, String key) {
    Dashboard dashboard = new Dashboard(fleet, new OneKey(key), () -> "http://127.0.0.1:8484");
    this.dashboard = dashboard;
    server =
        PagesServer.start(
            port, dashboard, rules -> rules.post("/v1/chat/completions", chat::answer));
  }

  private void stopHub() {
    chat.end();
    if (dashboard != null) {
      dashboard.close();
      dashboard = null;
    }
    if (server != null) {
      server.close();
      server = null;
    }
  }

  private static String delta(String text) {
    return "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + text + "\"}}]}\n\n";
  }

  private static Locator.GetByTextOptions exact() {
    return new Locator.GetByTextOptions().setExact(true);
  }

  /** The chat route: a test writes its answer piece by piece. */
  private static final class Chat {
    private final CompletableFuture<String> body = new CompletableFuture<>();
    private final CompletableFuture<String> authorization = new CompletableFuture<>();
    private final CompletableFuture<OutputStream> out = new CompletableFuture<>();
    private final CountDownLatch ended = new CountDownLatch(1);
    volatile String refusal = "";

    void answer(ServerRequest request, ServerResponse response)
        throws IOException, InterruptedException {
      body.complete(request.content().as(String.class));
      authorization.complete(request.headers().first(HeaderNames.AUTHORIZATION).orElse(""));
      if (!refusal.isEmpty()) {
        response.status(429).header("Content-Type", "application/json").send(refusal);
        return;
      }
      response
          .header("x-flotilla-worker", "studio/qwen3-14b-1")
          .header("x-flotilla-attempts", "2")
          .header("Content-Type", "text/event-stream");
      try (OutputStream stream = response.outputStream()) {
        out.complete(stream);
        ended.await(20, TimeUnit.SECONDS);
      }
    }

    void write(String text) throws Exception {
      OutputStream stream = out.get(10, TimeUnit.SECONDS);
      stream.write(text.getBytes(StandardCharsets.UTF_8));
      stream.flush();
    }

    void end() {
      ended.countDown();
    }

    String body() throws Exception {
      return body.get(10, TimeUnit.SECONDS);
    }

    String authorization() throws Exception {
      return authorization.get(10, TimeUnit.SECONDS);
    }
  }
}
