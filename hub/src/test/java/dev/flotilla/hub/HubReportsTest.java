package dev.flotilla.hub;

import static dev.flotilla.hub.HubCalls.delete;
import static dev.flotilla.hub.HubCalls.get;
import static dev.flotilla.hub.HubCalls.json;
import static dev.flotilla.hub.HubCalls.message;
import static dev.flotilla.hub.HubCalls.post;
import static dev.flotilla.hub.HubCalls.send;
import static dev.flotilla.hub.HubCalls.uri;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.hub.keys.Keys;
import dev.flotilla.hub.keys.Keys.Role;
import dev.flotilla.hub.store.Store;
import dev.flotilla.hub.store.StoreLimits;
import dev.flotilla.testkit.client.TestClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Reports of measurements: sent to a whole hub, listed, shown, opened, deleted. */
final class HubReportsTest {
  private static final String PAGE = "<!doctype html><title>r</title><p>812.4 tok/s</p>";

  @TempDir private Path home;

  @Test
  void whatIsSentIsListedShownOpenedAndDeleted() throws Exception {
    try (Hub hub = hub(StoreLimits.DEFAULT)) {
      HttpResponse<String> sent = store(hub, report("sweep of talk, 1 to 32 at once"));

      assertThat(sent.statusCode()).as(sent.body()).isEqualTo(200);
      assertThat(json(sent).path("message").asString()).isEqualTo("the report 1 is stored");
      assertThat(json(sent).path("path").asString()).isEqualTo("/reports/1");
      JsonNode listed = json(get(hub, "/api/reports"));
      assertThat(listed).hasSize(1);
      assertThat(listed.get(0).path("kind").asString()).isEqualTo("sweep");
      assertThat(listed.get(0).at("/figures/0/value").asString()).isEqualTo("812.4");
      assertThat(listed.get(0).has("summary")).isFalse();
      JsonNode shown = json(get(hub, "/api/reports/1"));
      assertThat(shown.at("/summary/output_throughput").asDouble()).isEqualTo(812.4);
      assertThat(get(hub, "/reports/1").body()).isEqualTo(PAGE);
      assertThat(get(hub, "/").body())
          .contains("sweep of talk, 1 to 32 at once", "href=\"/reports/1\"", "out tok/s");
      await()
          .atMost(Duration.ofSeconds(20))
          .untilAsserted(() ->
              assertThat(get(hub, "/api/events?kind=report-stored").body())
                  .contains(
                      "report-1", "Report 1 was stored by a request without a key: sweep of talk"));

      assertThat(delete(hub, "/api/reports/1").statusCode()).isEqualTo(200);

      assertThat(json(get(hub, "/api/reports"))).isEmpty();
      assertThat(get(hub, "/api/reports/1").statusCode()).isEqualTo(404);
      assertThat(delete(hub, "/api/reports/1").statusCode()).isEqualTo(404);
      assertThat(get(hub, "/reports/1").statusCode()).isEqualTo(404);
      assertThat(get(hub, "/reports/1").body()).startsWith("There is no such report");
    }
  }

  @Test
  void theyOutliveAHub() throws Exception {
    try (Hub hub = hub(StoreLimits.DEFAULT)) {
      store(hub, report("kept"));
    }
    try (Hub hub = hub(StoreLimits.DEFAULT)) {
      assertThat(json(get(hub, "/api/reports")).get(0).path("title").asString()).isEqualTo("kept");
      assertThat(get(hub, "/reports/1").body()).isEqualTo(PAGE);
    }
  }

  @Test
  void theOldestGoWhereTheTableIsFull() throws Exception {
    try (Hub hub = hub(keeping(3, 1 << 20))) {
      List<String> messages = new ArrayList<>();
      for (int i = 1; i <= 4; i++) {
        messages.add(json(store(hub, report("run " + i))).path("message").asString());
      }

      assertThat(messages.get(2)).isEqualTo("the report 3 is stored");
      assertThat(messages.get(3))
          .isEqualTo("the report 4 is stored; 1 of the oldest went, as there is no room for more");
      assertThat(json(get(hub, "/api/reports")).findValuesAsString("title"))
          .containsExactly("run 4", "run 3", "run 2");
      assertThat(get(hub, "/reports/1").statusCode()).isEqualTo(404);
    }
  }

  @Test
  void theOldestGoWhereAllAreTooLargeTogetherAndTheNewOneStays() throws Exception {
    try (Hub hub = hub(keeping(100, 200_000))) {
      for (int i = 1; i <= 3; i++) {
        store(hub, report("run " + i).put("html", PAGE + "x".repeat(90_000)));
      }
      assertThat(json(get(hub, "/api/reports")).findValuesAsString("title"))
          .containsExactly("run 3", "run 2");

      store(hub, report("huge").put("html", PAGE + "x".repeat(300_000)));

      assertThat(json(get(hub, "/api/reports")).findValuesAsString("title"))
          .containsExactly("huge");
    }
  }

  @Test
  void aFullDatabaseSaysSoAndKeepsWhatItHas() throws Exception {
    StoreLimits limits = StoreLimits.DEFAULT.with(StoreLimits.DEFAULT.kept().within(512 << 10));
    try (Hub hub = hub(limits)) {
      store(hub, report("small"));

      HttpResponse<String> refused =
          store(hub, report("large").put("html", PAGE + "x".repeat(900_000)));

      assertThat(refused.statusCode()).isEqualTo(503);
      assertThat(message(refused)).startsWith("the report was not stored: ").contains("full");
      assertThat(json(get(hub, "/api/reports")).findValuesAsString("title"))
          .containsExactly("small");
      assertThat(get(hub, "/reports/1").body()).isEqualTo(PAGE);
    }
  }

  @Test
  void whatIsNotInOrderIsRefusedWithItsField() throws Exception {
    try (Hub hub = hub(StoreLimits.DEFAULT)) {
      assertRefused(hub, "{", "the body is a JSON object");
      assertRefused(hub, "[]", "the body is a JSON object");
      assertRefused(hub, "{}", "the body needs the object \"summary\"");
      assertRefused(hub, without("kind"), "the body needs the text \"kind\"");
      assertRefused(hub, without("html"), "the body needs the text \"html\"");
      assertRefused(hub, report("x").put("model", 7), "the body needs the text \"model\"");
      assertRefused(
          hub,
          report("x").put("kind", "../sweep"),
          "\"kind\" is a word of at most 32 lower-case letters, such as bench, sweep, arms or"
              + " engines");
      assertRefused(hub, report("x".repeat(201)), "a text of \"title\" has 1 to 200 characters");
      assertRefused(hub, report("a\nb"), "a text of \"title\" holds no control characters");
      assertRefused(
          hub, report("\u202egnihton"), "a text of \"title\" holds no control characters");
      assertRefused(
          hub,
          report("x").put("html", "hello"),
          "\"html\" is a whole page, which begins with <!doctype html>");
      assertRefused(
          hub,
          report("x").put("figures", "812"),
          "\"figures\" is a list of {\"name\":\"out tok/s\",\"value\":\"812.4\"}");
      ObjectNode many = report("x");
      for (int i = 0; i < 12; i++) {
        many.withArray("figures").addObject().put("name", "n").put("value", "v");
      }
      assertRefused(
          hub,
          many,
          "\"figures\" has 13 entries, and lists show at most 12; all of them belong into"
              + " \"summary\"");
      assertRefused(
          hub,
          "{\"summary\":" + "[".repeat(2000) + "]".repeat(2000) + "}",
          "the body is a JSON object");

      assertThat(json(get(hub, "/api/reports"))).isEmpty();
    }
  }

  @Test
  void whatIsTooLargeIsToldItsLimit() throws Exception {
    try (Hub hub = hub(StoreLimits.DEFAULT)) {
      HttpResponse<String> page = store(hub, report("x").put("html", PAGE + "x".repeat(9 << 20)));
      assertThat(page.statusCode()).isEqualTo(413);
      assertThat(message(page)).startsWith("\"html\" has ").endsWith("at most 8388608 are kept");
      ObjectNode summary = report("x");
      summary.withObject("summary").put("long", "x".repeat(2 << 20));
      assertThat(store(hub, summary).statusCode()).isEqualTo(413);
      HttpResponse<String> body = store(hub, report("x").put("html", PAGE + "x".repeat(13 << 20)));
      assertThat(body.statusCode()).isEqualTo(413);
      assertThat(message(body)).isEqualTo("the body is larger than 12 MiB");
      assertThat(json(get(hub, "/api/reports"))).isEmpty();
    }
  }

  @Test
  void hostileTextsStayTextsInTheList() throws Exception {
    String hostile = "\"'><img src=x onerror=alert(1)><script>alert(1)</script>";
    try (Hub hub = hub(StoreLimits.DEFAULT)) {
      ObjectNode report = report(hostile).put("model", hostile);
      report.withArray("figures").addObject().put("name", "<b>").put("value", "<script>");
      assertThat(store(hub, report).statusCode()).isEqualTo(200);

      assertThat(get(hub, "/").body())
          .doesNotContain("<script>alert", "<img src=x", "<b>")
          .contains("&lt;script&gt;alert(1)");
    }
  }

  @Test
  void aPageIsServedApartFromEverythingElse() throws Exception {
    try (Hub hub = hub(StoreLimits.DEFAULT)) {
      store(hub, report("x"));

      HttpResponse<String> page = get(hub, "/reports/1");

      assertThat(page.headers().firstValue("content-security-policy").orElse(""))
          .startsWith("sandbox allow-scripts; default-src 'none'")
          .doesNotContain("allow-same-origin", "connect-src", "'self'");
      assertThat(page.headers().firstValue("x-content-type-options")).hasValue("nosniff");
      assertThat(page.headers().firstValue("content-type")).hasValue("text/html; charset=utf-8");
      assertThat(page.headers().firstValue("cache-control")).hasValue("no-store");
      for (String no : List.of("/reports/", "/reports/x", "/reports/-1", "/reports/9".repeat(3))) {
        assertThat(get(hub, no).statusCode()).as(no).isEqualTo(404);
      }
      try (TestClient foreign = TestClient.connect(hub.address().getPort())) {
        foreign.send("GET /reports/1 HTTP/1.1\r\nHost: evil.example.com\r\n\r\n");
        assertThat(foreign.reply().status()).isEqualTo(403);
      }
    }
  }

  @Test
  void anotherSitesPageAndASandboxedOneStoreNothing() throws Exception {
    try (Hub hub = hub(StoreLimits.DEFAULT)) {
      for (String origin : List.of("https://evil.example", "null")) {
        HttpResponse<String> refused =
            send(
                HttpRequest.newBuilder(uri(hub, "/api/reports"))
                    .header("Origin", origin)
                    .POST(BodyPublishers.ofString(report("x").toString())));
        assertThat(refused.statusCode()).isEqualTo(403);
      }
      assertThat(json(get(hub, "/api/reports"))).isEmpty();
    }
  }

  @Test
  void whereKeysExistAdministratorsStoreAndWhoSeesTheListMayOpen() throws Exception {
    String admin = key("me", Role.ADMIN);
    String client = key("editor", Role.CLIENT);
    String path;
    try (Hub hub = hub(StoreLimits.DEFAULT)) {
      String report = report("x").toString();
      assertThat(post(hub, "/api/reports", report).statusCode()).isEqualTo(401);
      assertThat(post(hub, "/api/reports", report, client).statusCode()).isEqualTo(403);
      HttpResponse<String> sent = post(hub, "/api/reports", report, admin);
      assertThat(sent.statusCode()).isEqualTo(200);
      assertThat(json(sent).path("by").asString()).isEqualTo("me");
      path = json(sent).path("path").asString();
      assertThat(path).matches("/reports/1\\?ticket=[0-9a-f]{32}");

      assertThat(get(hub, path).statusCode()).isEqualTo(200);
      assertThat(get(hub, "/reports/1").statusCode()).isEqualTo(401);
      assertThat(get(hub, path.replace("/1?", "/2?")).statusCode()).isEqualTo(401);
      assertThat(get(hub, path.replaceFirst("[0-9a-f]{32}", "0".repeat(32))).statusCode())
          .isEqualTo(401);
      assertThat(get(hub, "/reports/1", client).statusCode()).isEqualTo(200);
      assertThat(get(hub, "/").body()).doesNotContain("ticket");
    }
    try (Hub hub = hub(StoreLimits.DEFAULT)) {
      HttpResponse<String> late = get(hub, path);
      assertThat(late.statusCode()).isEqualTo(401);
      assertThat(late.body()).contains("open the report from the dashboard");
    }
  }

  private static void assertRefused(Hub hub, ObjectNode body, String why) throws Exception {
    assertRefused(hub, body.toString(), why);
  }

  private static void assertRefused(Hub hub, String body, String why) throws Exception {
    HttpResponse<String> refused = post(hub, "/api/reports", body);
    assertThat(refused.statusCode()).as(refused.body()).isEqualTo(400);
    assertThat(message(refused)).isEqualTo(why);
  }

  private static String without(String field) {
    ObjectNode report = report("x");
    report.remove(field);
    return report.toString();
  }

  private static ObjectNode report(String title) {
    ObjectNode report =
        JsonMapper.shared()
            .createObjectNode()
            .put("kind", "sweep")
            .put("title", title)
            .put("model", "talk")
            .put("html", PAGE);
    report.withArray("figures").addObject().put("name", "out tok/s").put("value", "812.4");
    report.withObject("summary").put("output_throughput", 812.4);
    return report;
  }

  private static StoreLimits keeping(long reports, long reportBytes) {
    StoreLimits.Kept usual = StoreLimits.DEFAULT.kept();
    return StoreLimits.DEFAULT.with(
        new StoreLimits.Kept(
            usual.events(),
            usual.usage(),
            usual.workerHistory(),
            usual.revisions(),
            reports,
            reportBytes,
            usual.databaseBytes()));
  }

  private Hub hub(StoreLimits limits) throws HubRefused {
    return Hub.start(HubConfig.local(home), limits);
  }

  private String key(String name, Role role) throws Exception {
    try (Store store = Store.open(home, StoreLimits.DEFAULT, InstantSource.system())) {
      Keys keys = new Keys(store, true, InstantSource.system(), new SecureRandom());
      return ((Keys.Creation.Created) keys.create(name, role)).secret();
    }
  }

  private static HttpResponse<String> store(Hub hub, ObjectNode report) throws Exception {
    return post(hub, "/api/reports", report.toString());
  }
}
