package dev.flotilla.engine.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.engine.sample.TokenMask;
import dev.flotilla.testkit.client.TestClient;
import dev.flotilla.testkit.real.RealEngine;
import dev.flotilla.testkit.real.RealServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a real llama-server writes by a grammar, this engine's reading of the same grammar allows;
 * and it refuses whatever llama-server does. The grammars are of the kinds that llama.cpp comes
 * with.
 */
@Execution(ExecutionMode.CONCURRENT)
class GbnfParityTest {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final int SEEDS = 6;

  /** It looks through the whole vocabulary for each token, beside other tests. */
  private static final Duration ANSWER_LIMIT = Duration.ofMinutes(3);

  private static final List<String> GRAMMARS =
      List.of(
          """
          root   ::= object
          value  ::= object | array | string | number | ("true" | "false" | "null") ws
          object ::=
            "{" ws (
                      string ":" ws value
              ("," ws string ":" ws value)*
            )? "}" ws
          array  ::=
            "[" ws (
                      value
              ("," ws value)*
            )? "]" ws
          string ::=
            "\\"" (
              [^"\\\\\\x7F\\x00-\\x1F] |
              "\\\\" (["\\\\bfnrt] | "u" [0-9a-fA-F]{4}) # escapes
            )* "\\"" ws
          number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9]+)? ws
          # at most one line
          ws ::= | " " | "\\n" [ \\t]{0,20}
          """,
          """
          root  ::= (expr "=" ws term "\\n"){1,3}
          expr  ::= term ([-+*/] term)*
          term  ::= ident | num | "(" ws expr ")" ws
          ident ::= [a-z] [a-z0-9_]* ws
          num   ::= [0-9]+ ws
          ws    ::= [ \\t]?
          """,
          """
          root ::= item+
          item ::= "- " [^\\r\\n\\x0b\\x0c\\x85\\u2028\\u2029]+ "\\n"
          """,
          """
          root    ::= "1. " move " " move "\\n" ([1-9] [0-9]? ". " move " " move "\\n"){0,4}
          move    ::= (pawn | nonpawn | castle) [+#]?
          nonpawn ::= [NBKQR] [a-h]? [1-8]? "x"? [a-h] [1-8]
          pawn    ::= ([a-h] "x")? [a-h] [1-8] ("=" [NBKQR])?
          castle  ::= "O-O" "-O"?
          """,
          """
          root ::= kana+ ([ \\t\\n] kana+)* .
          kana ::= [ぁ-ゟ] | [ァ-ヿ] | [、-〾] | [一-鿿]
          """);

  private static final List<String> WRONG =
      List.of(
          "root = \"a\"",
          "root ::= \"a",
          "root ::= [a",
          "root ::= (\"a\"",
          "root ::= \"a\")",
          "root ::= *",
          "root ::= \"a\"{3000}",
          "root ::= \"a\"{2;3}",
          "root ::= \"\\q\"",
          "root ::= b",
          "answer ::= \"a\"",
          "root ::= root \"x\" | \"y\"",
          "root ::= \"a\"\n| \"b\"");

  private static RealServer server;

  @BeforeAll
  static void start() {
    server = RealServer.of(RealEngine.LLAMA_SERVER).options("--threads", "1").start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  void whatLlamaServerWritesIsAllowed() {
    int ended = 0;
    for (String grammar : GRAMMARS) {
      Supplier<TokenMask> form = GrammarsTest.GRAMMARS.gbnf(grammar);
      for (int seed = 0; seed < SEEDS; seed++) {
        JsonNode reply = written(grammar, seed);
        byte[] text = reply.path("content").asString().getBytes(StandardCharsets.UTF_8);
        assertThat(text).isNotEmpty();
        boolean whole = reply.path("stop_type").asString().equals("eos");
        ended += whole ? 1 : 0;
        assertThat(whole ? GrammarsTest.fits(form, text) : GrammarsTest.begins(form, text))
            .as("%s, whole: %s, by %s", reply.path("content").asString(), whole, grammar)
            .isTrue();
      }
    }
    assertThat(ended).as("answers that ended").isPositive();
  }

  @Test
  void whatLlamaServerRefusesIsRefused() {
    for (String grammar : WRONG) {
      try (TestClient client = TestClient.connect(server.port())) {
        TestClient.Reply reply = client.post("/completion", asked(grammar, 1).toString()).reply();
        assertThat(reply.status()).as("%s: %s", grammar, reply.body()).isEqualTo(400);
      }
      assertThatThrownBy(() -> GrammarsTest.GRAMMARS.gbnf(grammar))
          .as(grammar)
          .isInstanceOf(GrammarRefused.class);
    }
  }

  private static JsonNode written(String grammar, int seed) {
    try (TestClient client = TestClient.connect(server.port(), ANSWER_LIMIT)) {
      TestClient.Reply reply = client.post("/completion", asked(grammar, seed).toString()).reply();
      assertThat(reply.status()).as(reply.body()).isEqualTo(200);
      return JSON.readTree(reply.body());
    }
  }

  /** Hot, so that its answers are of many kinds. */
  private static ObjectNode asked(String grammar, int seed) {
    return JSON.createObjectNode()
        .put("prompt", "Here is one:\n")
        .put("grammar", grammar)
        .put("n_predict", 40)
        .put("temperature", 1.5)
        .put("top_k", 0)
        .put("seed", seed);
  }
}
