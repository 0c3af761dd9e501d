package dev.flotilla.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.cli.TestShell;
import dev.flotilla.cli.client.HubClient;
import dev.flotilla.hub.Hub;
import dev.flotilla.hub.HubConfig;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** {@code flotilla get} and {@code flotilla describe} of a hub in this process. */
final class ListedAndDescribedTest {
  @TempDir Path home;
  private Hub hub;

  @BeforeEach
  void start() throws Exception {
    hub = Hub.start(HubConfig.local(home));
  }

  @AfterEach
  void stop() {
    hub.close();
  }

  private String url() {
    return hub.address().toString();
  }

  private String said(String... arguments) {
    TestShell shell = TestShell.piped();
    assertThat(shell.ask(url(), arguments)).as(shell.err()).isZero();
    return shell.out();
  }

  @Test
  void whatThereAreSeveralOfIsATableWithinTheDescription() {
    TestShell apply =
        TestShell.piped()
            .typing(
                """
                models:
                  talk:
                    promise: { context: 8192 }
                    replicas: 2
                    recipes:
                      - engine: llama-server
                        when: { gpu: nvidia }
                        source: /models/large.gguf
                        slots: 8
                        args: { n-gpu-layers: 99 }
                      - engine: llama-server
                        source: /models/small.gguf
                """);
    assertThat(apply.ask(url(), "apply", "-")).as(apply.err()).isZero();

    String described = said("describe", "model", "talk");

    assertThat(described.lines())
        .anyMatch(line -> line.matches("Context tokens +8192"))
        .anyMatch(line -> line.matches("Replicas +2"))
        .contains("Recipes")
        .anyMatch(line -> line.matches(" {2}Engine +When +Source +Slots +Embeddings +Chat +Args"))
        .anyMatch(line ->
            line.matches(
                " {2}llama-server +gpu nvidia +/models/large.gguf +8 +false +- +n-gpu-layers 99"))
        .anyMatch(line -> line.matches(" {2}llama-server +- +/models/small.gguf +4 +false +- +-"));
    assertThat(described).doesNotContain("{", "[");
  }

  @Test
  void whatIsNotThereNamesWhatIs() {
    TestShell shell = TestShell.piped();
    store("sweep of talk");

    assertThat(shell.ask(url(), "describe", "report", "7")).isEqualTo(1);

    assertThat(shell.err()).isEqualTo("flotilla: no report '7'; there are: 1\n");
  }

  @Test
  void reportsAreListedAndDescribed() {
    TestShell none = TestShell.piped();
    assertThat(none.ask(url(), "get", "reports")).isZero();
    assertThat(none.err()).startsWith("no reports: 'flotilla bench ... --report-to URL'");
    store("sweep of talk, 1 to 32 at once");

    assertThat(said("get", "reports"))
        .contains("sweep of talk, 1 to 32 at once", "out tok/s 812.4, knee 8", "/reports/1");
    assertThat(said("get", "report", "-o", "json")).contains("\"value\" : \"812.4\"");
    assertThat(said("describe", "report", "1").lines())
        .anyMatch(line -> line.matches("Kind +sweep"))
        .contains("Figures")
        .anyMatch(line -> line.matches(" {2}out tok/s +812\\.4 *"));
  }

  @Test
  void theUsageLogIsListedAndWrittenInLines() throws Exception {
    TestShell none = TestShell.piped();
    assertThat(none.ask(url(), "get", "usage")).isZero();
    assertThat(none.err()).startsWith("no requests in that time: --since looks further back");
    try (ScriptedEngine engine = ScriptedEngine.start()) {
      TestShell apply =
          TestShell.piped()
              .typing(
                  """
                  backends:
                    engine: { url: "%s/v1", model: scripted, slots: 2 }
                  routes:
                    talk: { match: { models: [talk] }, strategy: fastest, to: [{ backend: engine }] }
                  """
                      .formatted(engine.url()));
      assertThat(apply.ask(url(), "apply", "-")).as(apply.err()).isZero();
      ObjectNode chat = JsonMapper.shared().createObjectNode().put("model", "talk");
      chat.withArray("messages").addObject().put("role", "user").put("content", "hi");
      HubClient client = new HubClient(URI.create(url()), Optional.empty(), Optional.empty());
      client.post("/v1/chat/completions", chat);
      client.post("/v1/chat/completions", chat);

      await()
          .untilAsserted(() -> assertThat(said("get", "usage", "-o", "jsonl").lines()).hasSize(2));

      assertThat(said("get", "usage", "-o", "jsonl").lines())
          .allSatisfy(line ->
              assertThat(JsonMapper.shared().readTree(line).path("model").asString())
                  .isEqualTo("talk"));
      assertThat(said("get", "usage", "--since", "7d", "--limit", "1", "-o", "jsonl").lines())
          .hasSize(1);
      assertThat(said("get", "usage", "--only-model", "talk")).contains("Tokens in", "talk");
      assertThat(said("get", "usage", "--only-model", "other", "-o", "jsonl")).isEmpty();
      assertThat(said("get", "requests", "-o", "jsonl").lines()).hasSize(2);
    }
  }

  private void store(String title) {
    ObjectNode report =
        JsonMapper.shared()
            .createObjectNode()
            .put("kind", "sweep")
            .put("title", title)
            .put("model", "talk")
            .put("html", "<!doctype html><title>r</title>");
    report.withArray("figures").addObject().put("name", "out tok/s").put("value", "812.4");
    report.withArray("figures").addObject().put("name", "knee").put("value", "8");
    report.putObject("summary");
    new HubClient(URI.create(url()), Optional.empty(), Optional.empty())
        .post("/api/reports", report);
  }
}
