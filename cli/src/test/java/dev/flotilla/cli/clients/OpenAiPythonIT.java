package dev.flotilla.cli.clients;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.testkit.real.Python;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.MissingNode;

/** The openai package of Python: one run tries all, each test looks at one outcome. */
@ExtendWith(SharedFleet.class)
final class OpenAiPythonIT {
  private static final List<String> PACKAGES = List.of("openai==3.57.0");
  private static final Map<String, JsonNode> OUTCOMES = new HashMap<>();

  private final KeyedFleet fleet;

  OpenAiPythonIT(KeyedFleet fleet) {
    this.fleet = fleet;
  }

  @BeforeAll
  static void tryAll(KeyedFleet fleet) throws URISyntaxException {
    Python python = Python.with("openai-3.57.0", PACKAGES);
    URL script = OpenAiPythonIT.class.getResource("openai_client.py");
    assertThat(script).isNotNull();
    Python.Ended ended =
        python.run(
            Path.of(script.toURI()),
            Map.of(
                "OPENAI_BASE_URL", fleet.api(),
                "OPENAI_API_KEY", fleet.key(),
                "FLOTILLA_MODEL", fleet.model()),
            KeyedFleet.ANSWER_LIMIT);
    assertThat(ended.exitCode()).as(ended.output()).isZero();
    ended
        .output()
        .lines()
        .map(line -> JsonMapper.shared().readTree(line))
        .forEach(line -> OUTCOMES.put(line.path("tried").asString(), line.path("outcome")));
  }

  @Test
  void listsTheModels() {
    assertThat(outcome("models").path(0).asString()).isEqualTo(fleet.model());
  }

  @Test
  void chatsInOnePiece() {
    JsonNode reply = outcome("whole");
    assertThat(reply.path("model").asString()).isEqualTo(fleet.model());
    KeyedFleet.isText(reply.path("text").asString());
    assertThat(reply.path("tokens").asInt()).isBetween(1, 8);
  }

  @Test
  void chatsAsAStreamWithItsUsage() {
    JsonNode reply = outcome("streamed");
    assertThat(reply.path("models").toString()).isEqualTo("[\"" + fleet.model() + "\"]");
    KeyedFleet.isText(reply.path("text").asString());
    assertThat(reply.path("finish").asString()).isIn("stop", "length");
    assertThat(reply.path("tokens").asInt()).isBetween(1, 8);
  }

  @Test
  void aRequestThatOffersToolsIsAnswered() {
    assertThat(outcome("tools").path("finish").asString()).isIn("stop", "length", "tool_calls");
  }

  @Test
  void completesInOnePiece() {
    JsonNode reply = outcome("legacy_whole");
    assertThat(reply.path("model").asString()).isEqualTo(fleet.model());
    KeyedFleet.isText(reply.path("text").asString());
    assertThat(reply.path("finish").asString()).isIn("stop", "length");
    assertThat(reply.path("tokens").asInt()).isBetween(1, 8);
  }

  @Test
  void completesAsAStreamWithItsUsage() {
    JsonNode reply = outcome("legacy_streamed");
    assertThat(reply.path("models").toString()).isEqualTo("[\"" + fleet.model() + "\"]");
    KeyedFleet.isText(reply.path("text").asString());
    assertThat(reply.path("finish").asString()).isIn("stop", "length");
    assertThat(reply.path("tokens").asInt()).isBetween(1, 8);
  }

  @Test
  void aModelThatIsUnknownIsNotFound() {
    assertRaised("unknown_model", "NotFoundError", 404, "model_not_found", "no-such-model");
    assertRaised(
        "unknown_model_streamed", "NotFoundError", 404, "model_not_found", "no-such-model");
  }

  @Test
  void aWrongKeyIsAnAuthenticationError() {
    assertRaised("wrong_key", "AuthenticationError", 401, "invalid_api_key", "key");
  }

  @Test
  void embeddingsOfAModelThatHasNoneAreABadRequest() {
    assertRaised("embeddings", "BadRequestError", 400, "model_not_capable", fleet.model());
  }

  private static void assertRaised(
      String tried, String type, int status, String code, String message) {
    JsonNode error = outcome(tried);
    assertThat(error.path("raised").asString("")).as(error.toString()).isEqualTo(type);
    assertThat(error.path("status").asInt()).isEqualTo(status);
    assertThat(error.path("code").asString("")).isEqualTo(code);
    assertThat(error.path("message").asString("")).contains(message);
  }

  private static JsonNode outcome(String tried) {
    return OUTCOMES.getOrDefault(tried, MissingNode.getInstance());
  }
}
