package dev.flotilla.hub.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.hub.fleet.WorkerView;
import dev.flotilla.hub.fleet.WorkerView.State;
import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.hub.routing.TargetLoad;
import dev.flotilla.server.http.HttpServer;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The page and its stream, from outside: what a browser is sent. */
class DashboardTest {
  private static final LiveFeed.Limits QUICK =
      new LiveFeed.Limits(
          2,
          Duration.ofMillis(20),
          Duration.ofMillis(50),
          Duration.ofMillis(200),
          Duration.ofSeconds(1));

  private static final String NO_KEY = "";

  private final HttpClient http = HttpClient.newHttpClient();
  private PaperFleet fleet = PaperFleet.busy();
  private @Nullable HttpServer started;
  private @Nullable Dashboard served;

  @AfterEach
  void stop() {
    if (served != null) {
      served.close();
    }
    if (started != null) {
      started.close();
    }
    http.close();
  }

  @Test
  void pageShowsTheWholeFleetWithoutAScript() throws Exception {
    start(NO_KEY);

    String page = get("/").body();

    assertThat(page)
        .contains("tower/qwen3-14b-1", "NVIDIA RTX 4090", "studio.local", "32,768")
        .contains("--ctx-size</span> <span class=\"argument\">131072")
        .contains("'/home/kim/.flotilla/models/Qwen3-14B Q4_K_M.gguf'")
        .contains("needs 3.2 GiB and 1.9 GiB are free")
        .contains("61.0 GiB free of 192 GiB")
        .contains("7.0 GiB of 19.0 GiB, 36%")
        .contains("Revision 8 was refused")
        .contains("lab-vllm")
        .contains("/v1/chat/completions -d");
  }

  @Test
  void pageOfAFreshHubSaysWhatToDo() throws Exception {
    fleet = new PaperFleet();
    start(NO_KEY);

    assertThat(get("/").body())
        .contains("No worker yet", "No model yet", "No node yet", "Nothing has happened yet");
  }

  @Test
  void pageIsHeldToItsOwnOriginAndKeptNowhere() throws Exception {
    start(NO_KEY);

    var page = get("/");

    assertThat(page.headers().firstValue("content-security-policy").orElse(""))
        .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'")
        .doesNotContain("unsafe");
    assertThat(page.headers().firstValue("x-content-type-options")).contains("nosniff");
    assertThat(page.headers().firstValue("cache-control")).contains("no-store");
    assertThat(page.body()).doesNotContainPattern("<script(?![^>]*src=)").doesNotContain("style=");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/ui/assets/nothing.js"})
  void headIsAnsweredAsGetWithoutABody(String path) throws Exception {
    start(NO_KEY);

    HttpResponse<String> got = get(path);
    HttpResponse<String> head =
        http.send(
            HttpRequest.newBuilder(got.uri()).HEAD().timeout(Duration.ofSeconds(10)).build(),
            BodyHandlers.ofString());

    assertThat(head.statusCode()).isEqualTo(got.statusCode());
    assertThat(head.body()).isEmpty();
    assertThat(head.headers().firstValue("content-type"))
        .isEqualTo(got.headers().firstValue("content-type"))
        .isPresent();
    assertThat(head.headers().firstValueAsLong("content-length").orElse(0)).isPositive();
  }

  @Test
  void noSecretOfATargetIsShown() throws Exception {
    start(NO_KEY);

    assertThat(get("/").body()).doesNotContain("sk-hidden");
  }

  @Test
  void hostileTextsStayTexts() throws Exception {
    String hostile = "\"><script>alert(1)</script><hx-partial hx-target=\"body\"> '&\r\ndata: x";
    WorkerView worker = fleet.workers.getFirst();
    fleet.workers =
        List.of(PaperFleet.worker(hostile + "/a-1", hostile, State.LOST, hostile, hostile), worker);
    fleet.fleet =
        new FleetSnapshot(
            1,
            PaperFleet.names(new FleetSnapshot.Name(hostile, 1, 10, List.of(), 0, hostile)),
            Map.of());
    fleet.events = List.of(PaperFleet.event(1, Severity.ERROR, hostile, hostile, hostile));
    fleet.banner = List.of(new DashboardData.Notice(Severity.ERROR, hostile));
    start(NO_KEY);

    String page = get("/").body();
    assertThat(page)
        .doesNotContain("<script>")
        .doesNotContain("<hx-partial")
        .contains("&lt;script");

    try (Page live = open(NO_KEY)) {
      String first = live.awaitLine("id=\"e-1\"");
      assertThat(first).doesNotContain("<script>");
      assertThat(live.lines())
          .allMatch(line ->
              line.isEmpty()
                  || line.startsWith("data: ")
                  || line.startsWith("event: beat")
                  || line.equals("data:"));
      assertThat(live.lines()).noneMatch(line -> line.startsWith("data: x"));
    }
  }

  @Test
  void endlessNameIsCutAndDoesNotBreakThePage() throws Exception {
    String endless = "a".repeat(10_000);
    fleet.workers = List.of(PaperFleet.worker(endless + "/m-1", "n", State.SERVING, "", ""));
    start(NO_KEY);

    assertThat(get("/").body()).contains("a…").doesNotContain("a".repeat(2_001));
  }

  @Test
  void workerThatDiesTurnsUpInTheOpenPage() throws Exception {
    start(NO_KEY);
    try (Page live = open(NO_KEY)) {
      live.awaitLine("tower/qwen3-14b-1");

      fleet.turn("tower/qwen3-14b-1", State.LOST, "its engine was killed");

      assertThat(live.awaitLine("its engine was killed")).startsWith("data: ");
    }
  }

  @Test
  void unchangedPartsAreNotSentAgainAndSilenceIsFilledWithBeats() throws Exception {
    start(NO_KEY);
    try (Page live = open(NO_KEY)) {
      live.awaitLine("event: beat");
      int before = live.count("hx-target=\"#nodes\"");

      fleet.turn("studio/qwen3-14b-1", State.LOST, "gone");
      live.awaitLine("gone");

      assertThat(before).isEqualTo(1);
      assertThat(live.count("hx-target=\"#nodes\"")).isEqualTo(1);
    }
  }

  @Test
  void loadsAreShownThoughNobodyTellsOfThem() throws Exception {
    start(NO_KEY);
    try (Page live = open(NO_KEY)) {
      live.awaitLine("event: beat");

      fleet.loads = List.of(new TargetLoad("tower/qwen3-14b-1", 4, 77.7, 3100, 40_112, 11, 0));

      live.awaitLine("77.7");
    }
  }

  @Test
  void oneDashboardMoreThanTheHubServesIsRefusedAndOneThatLeavesMakesRoom() throws Exception {
    start(NO_KEY);
    try (Page first = open(NO_KEY);
        Page second = open(NO_KEY)) {
      first.awaitLine("tower");
      second.awaitLine("tower");

      var refused = get("/ui/live");

      assertThat(refused.statusCode()).isEqualTo(503);
      assertThat(refused.headers().firstValue("retry-after")).contains("10");
      assertThat(refused.body()).contains("close one");
    }
    await().atMost(Duration.ofSeconds(10)).until(() -> dashboard().openPages() == 0);
  }

  @Test
  void pageThatReadsNothingIsLetGo() throws Exception {
    start(NO_KEY);
    try (Socket stuck = new Socket()) {
      stuck.setReceiveBufferSize(2048);
      stuck.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server().port()));
      send(stuck, "GET /ui/live HTTP/1.1\r\nHost: h\r\n\r\n");
      await().atMost(Duration.ofSeconds(10)).until(() -> dashboard().openPages() == 1);

      AtomicInteger changes = new AtomicInteger();
      await()
          .pollInterval(Duration.ofMillis(10))
          .atMost(Duration.ofSeconds(20))
          .until(() -> {
            String reason = changes.incrementAndGet() + "x".repeat(1_900);
            fleet.banner =
                Collections.nCopies(400, new DashboardData.Notice(Severity.INFO, reason));
            fleet.tell();
            return dashboard().openPages() == 0;
          });
    }
  }

  @Test
  void closingTheDashboardEndsItsStreams() throws Exception {
    start(NO_KEY);
    try (Page live = open(NO_KEY)) {
      live.awaitLine("tower");

      dashboard().close();

      live.awaitEnd();
    }
  }

  @Test
  void whereKeysAreDemandedThePageHoldsNothingOfTheFleet() throws Exception {
    start("sk-right");

    assertThat(get("/").body())
        .contains("This hub demands a key")
        .doesNotContain("tower", "studio", "qwen3");
    assertThat(get("/ui/live").statusCode()).isEqualTo(401);
    assertThat(get("/ui/live", "sk-wrong").statusCode()).isEqualTo(401);
    assertThat(get("/ui/live", "").statusCode()).isEqualTo(401);
    try (Page live = open("sk-right")) {
      live.awaitLine("FLOTILLA_KEY");
    }
  }

  @Test
  void filesOfThePageAreKeptForEverUnderTheirHash() throws Exception {
    start(NO_KEY);
    String page = get("/").body();
    var address = Pattern.compile("/ui/assets/[a-z.-]+\\?v=[0-9a-f]{12}").matcher(page);
    int files = 0;
    while (address.find()) {
      var file = get(address.group());
      assertThat(file.statusCode()).isEqualTo(200);
      assertThat(file.headers().firstValue("cache-control").orElse("")).contains("immutable");
      files++;
    }
    assertThat(files).isGreaterThanOrEqualTo(5);
    assertThat(get("/ui/assets/VENDORED.txt").statusCode()).isEqualTo(404);
    assertThat(get("/ui/assets/..%2fDashboard.class").statusCode()).isEqualTo(404);
  }

  @Test
  void filesOfOthersAreAsPublished() throws Exception {
    Path folder =
        Path.of(
            System.getProperty("flotilla.root"),
            "hub/src/main/resources/dev/flotilla/hub/ui/assets");
    List<String> lines =
        Files.readAllLines(folder.resolve("VENDORED.txt")).stream()
            .filter(line -> !line.startsWith("#"))
            .toList();
    assertThat(lines).isNotEmpty();
    for (String line : lines) {
      String[] words = line.split(" ", -1);
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(folder.resolve(words[1])));
      assertThat(HexFormat.of().formatHex(digest)).as(words[1]).isEqualTo(words[0]);
    }
  }

  private void start(String key) {
    Dashboard dashboard =
        new Dashboard(fleet, new OneKey(key), () -> "http://127.0.0.1:8484", QUICK);
    served = dashboard;
    started = PagesServer.start(0, dashboard);
  }

  private HttpServer server() {
    return Objects.requireNonNull(started);
  }

  private Dashboard dashboard() {
    return Objects.requireNonNull(served);
  }

  private HttpResponse<String> get(String path, String... key) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server().port() + path))
            .timeout(Duration.ofSeconds(10));
    if (key.length > 0) {
      request.header("Authorization", "Bearer " + key[0]);
    }
    return http.send(request.build(), BodyHandlers.ofString());
  }

  private Page open(String key) throws IOException {
    return new Page(server().port(), key);
  }

  private static void send(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    socket.getOutputStream().flush();
  }

  /** A browser's stream of patches, read line by line. */
  private static final class Page implements AutoCloseable {
    private final Socket socket;
    private final BufferedReader reader;
    private final List<String> lines = new CopyOnWriteArrayList<>();

    Page(int port, String key) throws IOException {
      socket = new Socket(InetAddress.getLoopbackAddress(), port);
      socket.setSoTimeout(10_000);
      send(
          socket,
          "GET /ui/live HTTP/1.1\r\nHost: h\r\n"
              + (key.isEmpty() ? "" : "Authorization: Bearer " + key + "\r\n")
              + "\r\n");
      reader =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      String line = reader.readLine();
      assertThat(line).contains("200");
      while (!line.isEmpty()) {
        line = reader.readLine();
      }
    }

    /** Reads until a line holds the text; chunk sizes between the lines are left out. */
    String awaitLine(String text) throws IOException {
      while (true) {
        String line = reader.readLine();
        assertThat(line).as("the stream ended before: " + text).isNotNull();
        if (!line.matches("[0-9a-fA-F]{1,8}")) {
          lines.add(line);
        }
        if (line.contains(text)) {
          return line;
        }
      }
    }

    void awaitEnd() throws IOException {
      String line = "";
      while (line != null && !line.equals("0")) {
        line = reader.readLine();
      }
    }

    List<String> lines() {
      return lines;
    }

    int count(String text) {
      return (int) lines.stream().filter(line -> line.contains(text)).count();
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
