package dev.flotilla.hub;

import static dev.flotilla.hub.HubCalls.get;
import static dev.flotilla.hub.HubCalls.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.hub.keys.Keys;
import dev.flotilla.hub.store.Store;
import dev.flotilla.hub.store.StoreLimits;
import dev.flotilla.hub.store.Usage;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code /api/usage/log}, as a program reads it. */
final class UsageLogTest {
  @TempDir private Path home;
  private final Instant now = Instant.now();

  @Test
  void theLogIsReadInLinesOldestFirstAndGoesOnWhereItEnded() throws Exception {
    try (Store store = open()) {
      for (int i = 0; i < 2_500; i++) {
        store.usage(usage(i % 2 == 0 ? "talk" : "code", i % 5 == 0 ? "ann" : "bob", i, now));
      }
      store.usage(usage("talk", "ann", 7, now.minus(Duration.ofDays(3))));
    }
    try (Hub hub = Hub.start(HubConfig.local(home))) {
      List<JsonNode> all = lines(get(hub, "/api/usage/log"));
      assertThat(all).hasSize(2_500);
      assertThat(all).extracting(line -> line.path("promptTokens").asInt()).startsWith(0, 1, 2);
      assertThat(all.getFirst().propertyNames())
          .startsWith("id", "at", "requestId", "key", "model")
          .contains("promptTokens", "completionTokens", "totalMicros", "path", "outcome");
      assertThat(Instant.parse(all.getFirst().path("at").asString()))
          .isBetween(now.minusSeconds(1), now.plusSeconds(1));

      List<JsonNode> first = lines(get(hub, "/api/usage/log?limit=1100"));
      assertThat(first).isEqualTo(all.subList(0, 1_100));
      long last = first.getLast().path("id").asLong();
      assertThat(lines(get(hub, "/api/usage/log?after=" + last)))
          .isEqualTo(all.subList(1_100, 2_500));

      assertThat(lines(get(hub, "/api/usage/log?model=talk"))).hasSize(1_250);
      assertThat(lines(get(hub, "/api/usage/log?model=talk&key=ann"))).hasSize(250);
      assertThat(lines(get(hub, "/api/usage/log?model=nobody"))).isEmpty();
      assertThat(lines(get(hub, "/api/usage/log?since=2001-01-01T00:00:00Z"))).hasSize(2_501);
    }
  }

  @Test
  void whatCannotBeMeantIsRefusedByItsName() throws Exception {
    try (Hub hub = Hub.start(HubConfig.local(home))) {
      HttpResponse<String> since = get(hub, "/api/usage/log?since=yesterday");
      assertThat(since.statusCode()).isEqualTo(400);
      assertThat(message(since)).isEqualTo("since is an instant such as 2026-03-01T08:00:00Z");
      assertThat(get(hub, "/api/usage/log?since=%2B999999999-01-01T00:00:00Z").statusCode())
          .isEqualTo(400);
      assertThat(message(get(hub, "/api/usage/log?limit=0")))
          .isEqualTo("limit is a number from 1 to 1000000");
      assertThat(get(hub, "/api/usage/log?after=-1").statusCode()).isEqualTo(400);
    }
  }

  @Test
  void theLogIsForAdministratorsWhereKeysExist() throws Exception {
    String client;
    String admin;
    try (Store store = open()) {
      Keys keys = new Keys(store, true, InstantSource.system(), new SecureRandom());
      admin = ((Keys.Creation.Created) keys.create("me", Keys.Role.ADMIN)).secret();
      client = ((Keys.Creation.Created) keys.create("ann", Keys.Role.CLIENT)).secret();
    }
    try (Hub hub = Hub.start(HubConfig.local(home))) {
      assertThat(get(hub, "/api/usage/log").statusCode()).isEqualTo(401);
      assertThat(get(hub, "/api/usage/log", client).statusCode()).isEqualTo(403);
      assertThat(get(hub, "/api/usage/log", admin).statusCode()).isEqualTo(200);
    }
  }

  private Store open() throws Exception {
    return Store.open(home, StoreLimits.DEFAULT, InstantSource.system());
  }

  private static List<JsonNode> lines(HttpResponse<String> response) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    assertThat(response.headers().firstValue("content-type"))
        .hasValue("application/jsonl; charset=utf-8");
    return response.body().lines().map(line -> JsonMapper.shared().readTree(line)).toList();
  }

  private static Usage usage(String model, String key, int promptTokens, Instant at) {
    return new Usage(
        at,
        "r",
        key,
        model,
        "mac/talk-1",
        "/v1/chat/completions",
        true,
        200,
        "ok",
        1,
        promptTokens,
        7,
        10,
        20,
        2_000);
  }
}
