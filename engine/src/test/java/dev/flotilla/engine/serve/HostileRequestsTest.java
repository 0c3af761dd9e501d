package dev.flotilla.engine.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.engine.Ending;
import dev.flotilla.engine.Engine;
import dev.flotilla.engine.schedule.ScheduleLimits;
import dev.flotilla.gguf.sandbox.TemplateLimits;
import dev.flotilla.gguf.template.ChatTemplate;
import dev.flotilla.testkit.client.TestClient;
import dev.flotilla.testkit.client.TestClient.Reply;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Requests that mean harm, or seem to: each gets its refusal, somebody beside them gets right
 * answers all the time, and afterwards every block of the cache is free.
 */
class HostileRequestsTest {
  private static final int CONTEXT = 600;
  private static final ScheduleLimits LIMITS = new ScheduleLimits(16, 4, 8);
  private static final String GOOD_DAY = "Good day";
  private static final String HELLO = "\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]";
  private static final String CHAT = "/v1/chat/completions";

  @TempDir private Path folder;
  private ServedModel model;
  private SpeakingRunner runner;
  private Engine engine;
  private EngineServer server;

  @BeforeEach
  void serve() throws IOException {
    model = LetterModel.served(folder);
    runner = new SpeakingRunner(model.tokenizer(), CONTEXT);
    runner.says(GOOD_DAY);
    engine = new Engine(runner, LIMITS, CONTEXT, System::nanoTime).start();
    server = server(model);
  }

  private EngineServer server(ServedModel served) throws IOException {
    ServeSettings settings =
        new ServeSettings(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            "",
            ServeSettings.Reasoning.REASONING_CONTENT,
            "",
            ServeLimits.DEFAULT);
    return new EngineServer(engine, served, settings, Map.of(), Clock.systemUTC(), new Random(1))
        .start();
  }

  @AfterEach
  void everyBlockIsFree() {
    await().until(() -> engine.counts().running() + engine.counts().waiting() == 0);
    await().until(() -> engine.counts().blocksFree() == runner.kvBlocks());
    assertThat(engine.failed()).isEmpty();
    server.close();
    engine.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{% set n = namespace(x='ab') %}{% for a in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}"
      })
  void aTemplateBombGoesOffForItsOwnRequestsAlone(String bomb) throws Exception {
    ServedModel bombed =
        new ServedModel(
            "letters",
            model.tokenizer(),
            Optional.of(ChatTemplate.parse(bomb, TemplateLimits.DEFAULTS)),
            bomb,
            model.ends(),
            model.longestTokenBytes(),
            model.pooling());
    try (EngineServer other = server(bombed);
        Neighbour neighbour = new Neighbour();
        TestClient client = TestClient.connect(other.port())) {
      Reply reply = client.post(CHAT, "{" + HELLO + "}").reply();
      assertThat(reply.status()).as(reply.body()).isEqualTo(400);
      assertThat(reply.body()).contains("\"code\":\"chat_template\"");
      Reply text = client.post("/v1/completions", "{\"prompt\":\"a\",\"max_tokens\":1}").reply();
      assertThat(text.status()).as("what needs no template").isEqualTo(200);
      neighbour.isAnsweredRightly();
    }
  }

  @Test
  void messagesOfTenMegabytesAllAtOnce() throws Exception {
    String body =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"" + "é ".repeat(10 << 19) + "\"}]}";
    try (Neighbour neighbour = new Neighbour();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Reply>> replies = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        replies.add(threads.submit(() -> post(CHAT, body)));
      }
      for (Future<Reply> each : replies) {
        Reply reply = each.get();
        assertThat(reply.status()).as(reply.body()).isIn(400, 503);
        assertThat(reply.body()).containsAnyOf("has at least", "as many bytes of requests");
      }
      neighbour.isAnsweredRightly();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "temperature",
        "top_p",
        "min_p",
        "repetition_penalty",
        "presence_penalty",
        "frequency_penalty",
        "max_tokens",
        "max_completion_tokens",
        "min_tokens",
        "n",
        "top_k",
        "top_logprobs"
      })
  void numbersThatAreNone(String parameter) throws Exception {
    try (Neighbour neighbour = new Neighbour()) {
      for (String value : List.of("-1000", "1e999", "-1e999999999", "\"NaN\"", "[]")) {
        Reply reply = post(CHAT, "{" + HELLO + ",\"" + parameter + "\":" + value + "}");
        assertThat(reply.status()).as("%s %s", value, reply.body()).isEqualTo(400);
        assertThat(reply.body()).contains("\"param\":\"" + parameter + "\"");
      }
      for (String value : List.of("NaN", "Infinity", "-Infinity", "+1", "0x7", "-")) {
        Reply reply = post(CHAT, "{" + HELLO + ",\"" + parameter + "\":" + value + "}");
        assertThat(reply.status()).as("%s %s", value, reply.body()).isEqualTo(400);
        assertThat(reply.body()).contains("is not valid JSON at byte");
      }
      neighbour.isAnsweredRightly();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"-1", "258", "2147483647", "2147483648", "1e300", "97.5", "\"x\"", "null"})
  void tokensThatThereAreNot(String token) throws Exception {
    try (Neighbour neighbour = new Neighbour()) {
      assertThat(post("/v1/completions", "{\"prompt\":[97," + token + "]}").status())
          .isEqualTo(400);
      assertThat(post("/v1/completions", "{\"prompt\":[[97],[" + token + "]]}").status())
          .isEqualTo(400);
      assertThat(post("/detokenize", "{\"tokens\":[" + token + "]}").status()).isEqualTo(400);
      assertThat(post(CHAT, "{" + HELLO + ",\"stop_token_ids\":[" + token + "]}").status())
          .isEqualTo(400);
      String key = token.replace("\"", "");
      assertThat(post(CHAT, "{" + HELLO + ",\"logit_bias\":{\"" + key + "\":1}}").status())
          .isEqualTo(400);
      neighbour.isAnsweredRightly();
    }
  }

  @Test
  void schemasAndExpressionsThatAreWrongRecursiveOrHuge() throws Exception {
    List<String> schemas =
        List.of(
            "7",
            "{\"type\":\"nonsense\"}",
            "{\"$ref\":\"#\"}",
            "{\"$ref\":\"#nowhere\"}",
            "{\"type\":\"object\",\"properties\":[{}],\"required\":[]}",
            "{\"type\":\"object\",\"required\":\"x\"}",
            "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":{\"$ref\":\"#/$defs/a\"}}}",
            "{\"type\":\"array\",\"minItems\":1,\"items\":{\"$ref\":\"#\"}}",
            "{\"anyOf\":["
                + "{\"type\":\"array\",\"items\":".repeat(30)
                + "{}"
                + "}".repeat(30)
                + ",{\"enum\":[]}]}",
            "{\"type\":\"array\",\"minItems\":2000,\"items\":{\"type\":\"string\",\"minLength\":2000}}",
            "{\"enum\":[" + "\"abcdefgh\",".repeat(30_000) + "1]}",
            "{\"type\":\"string\",\"pattern\":\"" + "(".repeat(3_000) + "\"}",
            "{\"type\":\"string\",\"pattern\":\"((a{1000}){1000}){1000}\"}",
            "{\"allOf\":".repeat(60) + "{}" + "}".repeat(60));
    try (Neighbour neighbour = new Neighbour()) {
      for (String schema : schemas) {
        refused(
            "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"x\",\"schema\":"
                + schema
                + "}}",
            schema);
        neighbour.isAnsweredRightly();
      }
      for (String regex : List.of("(", "a**b)", "(?=x)", "(".repeat(3_900))) {
        refused("\"structured_outputs\":{\"regex\":\"" + regex + "\"}", regex);
        neighbour.isAnsweredRightly();
      }
      List<String> grammars =
          List.of(
              "root ::= ((\\\"a\\\"{2000}){2000}){2000}",
              "root ::= \\\"a\\\" root",
              "root ::= root \\\"a\\\" | \\\"a\\\"",
              "root ::= " + "(".repeat(50_000),
              "root ::= \\\"a\\\"" + "*".repeat(50_000),
              "root ::= " + "a ".repeat(50_000),
              "x".repeat(300_000));
      for (String grammar : grammars) {
        refused("\"grammar\":\"" + grammar + "\"", grammar);
        neighbour.isAnsweredRightly();
      }
      String deep = "[".repeat(100_000);
      for (String field : List.of("tools", "response_format", "json_schema")) {
        Reply reply = post(CHAT, "{" + HELLO + ",\"" + field + "\":" + deep);
        assertThat(reply.status()).as("%s %s", field, reply.body()).isEqualTo(400);
      }
      neighbour.isAnsweredRightly();
    }
  }

  /** They have a meaning, and the more ways to read them the more work: up to a limit. */
  @ParameterizedTest
  @ValueSource(strings = {"(.?){1000}", "((a|b)?){1000}x", "((a?|a)*){500}", "(.*a){900}"})
  void expressionsThatCanBeReadInManyWays(String regex) throws Exception {
    try (Neighbour neighbour = new Neighbour()) {
      Reply reply =
          post(
              CHAT,
              "{%s,\"max_tokens\":20,\"structured_outputs\":{\"regex\":\"%s\"}}"
                  .formatted(HELLO, regex));
      assertThat(reply.status()).as(reply.body()).isIn(200, 400);
      neighbour.isAnsweredRightly();
    }
  }

  /** A schema that speaks of itself has a meaning: it is held to. */
  @Test
  void aRecursiveSchemaIsHeldTo() throws Exception {
    String schema = "{\"type\":\"array\",\"items\":{\"$ref\":\"#\"},\"maxItems\":3}";
    try (Neighbour neighbour = new Neighbour()) {
      Reply reply =
          post(
              CHAT,
              "{"
                  + HELLO
                  + ",\"max_tokens\":40,\"response_format\":{\"type\":\"json_schema\","
                  + "\"json_schema\":{\"name\":\"x\",\"schema\":"
                  + schema
                  + "}}}");
      assertThat(reply.status()).as(reply.body()).isEqualTo(200);
      assertThat(reply.body()).contains("\"content\":\"[");
      neighbour.isAnsweredRightly();
    }
  }

  @Test
  void aThousandRequestsAtOnceAreAnsweredOrRefused() throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Reply>> replies = new ArrayList<>();
      for (int i = 0; i < 1_000; i++) {
        String more = ",\"temperature\":0" + (i % 2 == 0 ? "" : ",\"stream\":true");
        replies.add(threads.submit(() -> post(CHAT, "{" + HELLO + more + "}")));
      }
      int answered = 0;
      for (Future<Reply> each : replies) {
        Reply reply = each.get();
        if (reply.status() == 200) {
          answered++;
          assertThat(reply.body())
              .satisfiesAnyOf(
                  body -> assertThat(body).contains("\"content\":\"" + GOOD_DAY + "\""),
                  body -> assertThat(body).contains("[DONE]"));
        } else {
          assertThat(reply.status()).as(reply.body()).isEqualTo(503);
          assertThat(reply.header("Retry-After")).isNotEmpty();
        }
      }
      assertThat(answered).isGreaterThanOrEqualTo(LIMITS.openMax());
    }
  }

  @Test
  void clientsThatLeaveInTheMiddleOfTheirPrompts() {
    runner.stepwise();
    String prompt = "x".repeat(CONTEXT - 50);
    List<TestClient> clients = new ArrayList<>();
    for (int i = 0; i < LIMITS.openMax(); i++) {
      TestClient client = TestClient.connect(server.port());
      String salt = ",\"cache_salt\":\"" + i + "\"";
      client.post("/v1/completions", "{\"prompt\":\"" + prompt + "\",\"stream\":true" + salt + "}");
      clients.add(client);
    }
    await()
        .until(() -> {
          runner.step(1); // of 34 that the first prompt takes
          return engine.counts().running() + engine.counts().waiting() > LIMITS.sequencesMax();
        });
    for (int i = 0; i < clients.size(); i++) {
      if (i % 2 == 0) {
        clients.get(i).reset();
      } else {
        clients.get(i).abandon();
      }
    }
    await()
        .until(() -> {
          runner.step(1);
          return engine.counts().running() + engine.counts().waiting() == 0;
        });
    assertThat(engine.counts().ended(Ending.CANCELLED)).isGreaterThan(LIMITS.sequencesMax());
    runner.step(1_000);
    Reply after = post(CHAT, "{" + HELLO + ",\"temperature\":0}");
    assertThat(after.body()).contains(GOOD_DAY);
  }

  private void refused(String field, String what) {
    Reply reply = post(CHAT, "{" + HELLO + "," + field + "}");
    String shown = what.substring(0, Math.min(80, what.length()));
    assertThat(reply.status()).as("%s: %s", shown, reply.body()).isEqualTo(400);
  }

  private Reply post(String path, String json) {
    try (TestClient client = TestClient.connect(server.port())) {
      return client.post(path, json).reply();
    }
  }

  /** Somebody who asks an ordinary question again and again, and wants the ordinary answer. */
  private final class Neighbour implements AutoCloseable {
    private final ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
    private final AtomicInteger answers = new AtomicInteger();
    private volatile boolean over;
    // The last: what it uses has to be there.
    private final Thread thread = Thread.ofVirtual().start(this::ask);

    private void ask() {
      try (TestClient client = TestClient.connect(server.port())) {
        while (!over) {
          Reply reply = client.post(CHAT, "{" + HELLO + ",\"temperature\":0}").reply();
          if (reply.status() == 200 && reply.body().contains("\"" + GOOD_DAY + "\"")) {
            answers.incrementAndGet();
          } else {
            wrong.add(reply.status() + " " + reply.body());
          }
        }
      } catch (RuntimeException broken) {
        wrong.add(broken.toString());
      }
    }

    /** From now on too. */
    void isAnsweredRightly() {
      int before = answers.get();
      await().until(() -> answers.get() >= before + 2 || !wrong.isEmpty());
      assertThat(wrong).isEmpty();
    }

    @Override
    public void close() {
      over = true;
      await().until(() -> !thread.isAlive());
      assertThat(wrong).isEmpty();
    }
  }
}
