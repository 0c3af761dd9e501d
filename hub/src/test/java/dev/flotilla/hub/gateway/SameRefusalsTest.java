package dev.flotilla.hub.gateway;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.hub.gateway.TestHub.Setup;
import dev.flotilla.hub.routing.Target.Capability;
import dev.flotilla.testkit.client.TestClient;
import dev.flotilla.testkit.client.TestClient.Reply;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The same mistake, made at the built-in engine's own server and at a hub over it, has the same
 * status, code and param: whoever moves from the one to the other keeps his handling of errors.
 */
class SameRefusalsTest {
  private static final String CHATS = "/v1/chat/completions";
  private static final String TEXTS = "/v1/completions";
  private static final String VECTORS = "/v1/embeddings";

  /** Stands for the model and a conversation. */
  private static final String HI =
      "\"model\":\"MODEL\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]";

  private static BuiltinServer engine;
  private static TestHub hub;
  private static TestHub vectors;

  @BeforeAll
  static void start() {
    engine = BuiltinServer.start();
    hub = TestHub.over(setup(), engine.engine());
    Setup embeddings = setup();
    embeddings.capability = Capability.EMBEDDINGS;
    vectors = TestHub.over(embeddings, engine.engine());
  }

  private static Setup setup() {
    Setup setup = new Setup();
    setup.engine = Sameness.BUILTIN;
    setup.contextTokens = Sameness.CONTEXT;
    return setup;
  }

  @AfterAll
  static void stop() {
    vectors.close();
    hub.close();
    engine.close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "not json                                   | 400 invalid_json",
        "[1]                                        | 400 invalid_json",
        "{\"model\":\"MODEL\"                       | 400 invalid_json",
        "{HI} {}                                    | 400 invalid_json",
        "{HI,\"model\":\"MODEL\"}                   | 400 duplicate_field model",
        "{\"model\":\"MODEL\"}                      | 400 missing_required_parameter messages",
        "{\"model\":\"MODEL\",\"messages\":[]}      | 400 invalid_value messages",
        "{\"model\":\"MODEL\",\"messages\":\"hi\"}  | 400 invalid_type messages",
        "{\"model\":\"MODEL\",\"messages\":[7]}     | 400 invalid_type messages[0]",
        "{\"model\":\"MODEL\",\"messages\":[{\"content\":\"x\"}]} | 400 missing_required_parameter messages[0].role",
        "{\"model\":7,\"messages\":[]}              | 400 invalid_type model",
        "{\"model\":\"other\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]} | 404 model_not_found model",
        "{HI,\"temperature\":\"warm\"}              | 400 invalid_type temperature",
        "{HI,\"n\":0}                               | 400 invalid_value n",
        "{HI,\"n\":1.5}                             | 400 invalid_type n",
        "{HI,\"n\":9}                               | 400 invalid_value n",
        "{HI,\"n\":100}                             | 400 invalid_value n",
        "{HI,\"max_tokens\":0}                      | 400 invalid_value max_tokens",
        "{HI,\"max_tokens\":-2}                     | 400 invalid_value max_tokens",
        "{HI,\"max_tokens\":\"9\"}                  | 400 invalid_type max_tokens",
        "{HI,\"stream\":\"yes\"}                    | 400 invalid_type stream",
        "{HI,\"stop\":7}                            | 400 invalid_type stop",
        "{HI,\"stop\":[\"a\",7]}                    | 400 invalid_type stop[1]",
        "{HI,\"stop\":[\"a\",\"\"]}                 | 400 invalid_value stop[1]",
        "{HI,\"response_format\":\"json\"}          | 400 invalid_type response_format",
        "{HI,\"response_format\":{\"type\":\"xml\"}} | 400 invalid_value response_format.type",
        "{HI,\"tool_choice\":\"always\"}            | 400 invalid_value tool_choice",
        "{HI,\"tool_choice\":\"required\"}          | 400 invalid_value tool_choice",
        "{HI,\"tools\":\"f\"}                       | 400 invalid_type tools",
        "{HI,\"parallel_tool_calls\":1}             | 400 invalid_type parallel_tool_calls",
        "{HI,\"logprobs\":5}                        | 400 invalid_type logprobs",
        "{HI,\"top_logprobs\":5}                    | 400 invalid_value top_logprobs",
        "{HI,\"logprobs\":true,\"top_logprobs\":21} | 400 invalid_value top_logprobs",
        "{HI,\"logprobs\":true,\"top_logprobs\":\"2\"} | 400 invalid_type top_logprobs",
        "{HI,\"chat_template_kwargs\":[]}           | 400 invalid_type chat_template_kwargs",
        "{HI,\"chat_template_kwargs\":{\"tools\":1}} | 400 invalid_value chat_template_kwargs.tools",
        "{HI,\"reasoning_effort\":1}                | 400 invalid_type reasoning_effort",
        "{\"model\":\"MODEL\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]} | 400 model_not_capable messages",
      })
  void ofConversations(String body, String refusal) {
    same(hub, CHATS, body, refusal);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"model\":\"MODEL\"}                      | 400 missing_required_parameter prompt",
        "{\"model\":\"MODEL\",\"prompt\":7}         | 400 invalid_type prompt",
        "{\"model\":\"MODEL\",\"prompt\":[]}        | 400 invalid_value prompt",
        "{\"model\":\"MODEL\",\"prompt\":\"\"}      | 400 model_not_capable prompt",
        "{\"model\":\"MODEL\",\"prompt\":[1,\"a\"]} | 400 invalid_type prompt[1]",
        "{\"model\":\"MODEL\",\"prompt\":[\"a\",1]} | 400 invalid_type prompt[1]",
        "{\"model\":\"MODEL\",\"prompt\":\"a\",\"suffix\":\"b\"} | 400 model_not_capable suffix",
        "{\"model\":\"MODEL\",\"prompt\":\"a\",\"echo\":true}    | 400 model_not_capable echo",
        "{\"model\":\"MODEL\",\"prompt\":\"a\",\"n\":9}          | 400 invalid_value n",
        "{\"model\":\"MODEL\",\"prompt\":\"a\",\"best_of\":3}    | 400 model_not_capable best_of",
        "{\"model\":\"MODEL\",\"prompt\":\"a\",\"logprobs\":true} | 400 invalid_type logprobs",
        "{\"model\":\"MODEL\",\"prompt\":\"a\",\"logprobs\":30}  | 400 invalid_value logprobs",
      })
  void ofTextsToComplete(String body, String refusal) {
    same(hub, TEXTS, body, refusal);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"model\":\"MODEL\"}                      | 400 missing_required_parameter input",
        "{\"model\":\"MODEL\",\"input\":7}          | 400 invalid_type input",
        "{\"model\":\"MODEL\",\"input\":[]}         | 400 invalid_value input",
        "{\"model\":\"MODEL\",\"input\":\"\"}       | 400 invalid_value input",
        "{\"model\":\"MODEL\",\"input\":[\"a\",\"\"]} | 400 invalid_value input[1]",
        "{\"model\":\"MODEL\",\"input\":[\"a\",7]}  | 400 invalid_type input[1]",
        "{\"model\":\"MODEL\",\"input\":[7,\"a\"]}  | 400 invalid_type input[1]",
        "{\"model\":\"MODEL\",\"input\":\"a\",\"encoding_format\":\"hex\"} | 400 invalid_value encoding_format",
        "{\"model\":\"MODEL\",\"input\":\"a\",\"encoding_format\":7} | 400 invalid_type encoding_format",
      })
  void ofTextsToEmbed(String body, String refusal) {
    same(vectors, VECTORS, body, refusal);
  }

  @ParameterizedTest
  @CsvSource({
    "GET,/v1/chat/completions,'',405 method_not_allowed",
    "POST,/v1/models,'',405 method_not_allowed",
    "GET,/v1/models/other,'',404 model_not_found model",
    "GET,/v1/nothing,'',404 not_found",
    "POST,/v1/chat/completions,Content-Encoding: gzip,415 unsupported_content_encoding",
    "POST,/v1/chat/completions,'Transfer-Encoding: gzip, chunked',501 unsupported_transfer_encoding",
    "GET,/v1/models,LONG,431 headers_too_large",
  })
  void ofTheWayIn(String method, String path, String header, String refusal) {
    String line = header.equals("LONG") ? "X-Long: " + "x".repeat(40_000) : header;
    String head =
        method
            + " "
            + path
            + " HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            + (line.isEmpty() ? "" : line + "\r\n")
            + (method.equals("GET") || line.startsWith("Transfer-Encoding")
                ? "\r\n"
                : "Content-Length: 2\r\n\r\n{}");
    for (int port : new int[] {engine.port(), hub.port()}) {
      try (TestClient client = TestClient.connect(port)) {
        assertThat(told(client.send(head).reply()))
            .as(port == hub.port() ? "hub" : "engine")
            .isEqualTo(refusal);
      }
    }
  }

  @Test
  void aHeadThatIsTooLargeHasItsReasonInTheFirstLine() {
    for (int port : new int[] {engine.port(), hub.port()}) {
      try (TestClient client = TestClient.connect(port)) {
        client.get("/v1/models", "X-Long: " + "x".repeat(40_000));
        assertThat(client.untilClosed())
            .startsWith("HTTP/1.1 431 Request Header Fields Too Large\r\n");
      }
    }
  }

  /** What comes back of a request that ends where it should go on: nobody may read it, any more. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "POST / HTTP/1.1\r\nHost: 1",
        "GET /v1/models HTTP/1.1\r\n",
        "GE",
        "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{"
      })
  void aRequestThatEndsInTheMiddleIsNoFailure(String part) throws IOException {
    for (int port : new int[] {engine.port(), hub.port()}) {
      try (Socket client = new Socket(InetAddress.getLoopbackAddress(), port)) {
        client.setSoTimeout((int) TestClient.WAIT_MAX.toMillis());
        client.getOutputStream().write(part.getBytes(US_ASCII));
        client.shutdownOutput();
        assertThat(client.getInputStream().readAllBytes())
            .as(port == hub.port() ? "hub" : "engine")
            .isEmpty();
      }
    }
  }

  private static void same(TestHub over, String path, String body, String refusal) {
    String asked = body.replace("HI", HI);
    try (TestClient alone = TestClient.connect(engine.port());
        TestClient throughHub = over.client()) {
      String own = told(alone.post(path, asked.replace("MODEL", BuiltinServer.MODEL)).reply());
      String hubs = told(throughHub.post(path, asked.replace("MODEL", TestHub.MODEL)).reply());
      assertThat(own).as("engine").isEqualTo(refusal);
      assertThat(hubs).as("hub").isEqualTo(refusal);
    }
  }

  /** Status, code and param, as far as they are there. */
  private static String told(Reply reply) {
    JsonNode error = JsonMapper.shared().readTree(reply.body()).path("error");
    String param = error.path("param").asString("");
    return reply.status()
        + " "
        + error.path("code").asString("")
        + (param.isEmpty() ? "" : " " + param);
  }
}
