package dev.flotilla.gguf.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.sandbox.TemplateLimits;
import dev.flotilla.gguf.sandbox.TemplateRefused;
import dev.flotilla.gguf.template.ChatTemplate;
import dev.flotilla.testkit.real.GemmaModel;
import dev.flotilla.testkit.real.RealEngine;
import dev.flotilla.testkit.real.RealServer;
import dev.flotilla.testkit.real.SmallModel;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Token for token what the real llama.cpp makes of the same files, over a {@link Corpus} of many
 * scripts, and prompt for prompt what it makes of a conversation: its {@code /tokenize} and {@code
 * /apply-template} are the judges.
 */
@Execution(ExecutionMode.CONCURRENT)
class LlamaCppTokensTest {
  private static final boolean[] BOTH = {false, true};

  @TempDir Path folder;

  @BeforeAll
  static void onlyWhereTheEngineCanBeHad() {
    assertThat(RealEngine.LLAMA_SERVER.program()).isNotEmpty();
  }

  /** Byte-level pairs, digits one by one, 17 control tokens. */
  @Test
  void smolLm2() throws Exception {
    compareWithLlamaCpp(SmallModel.gguf(), BOTH);
  }

  /** SentencePiece's pairs by score, bytes where there is no token, 262k tokens. */
  @Test
  void gemma3() throws Exception {
    compareWithLlamaCpp(GemmaModel.gguf(), BOTH);
  }

  /** The other splitters, with SmolLM2's vocabulary. */
  @ParameterizedTest
  @ValueSource(strings = {"default", "gpt-2", "llama-bpe", "smaug-bpe", "qwen2", "tekken"})
  void otherSplitters(String splitter) throws Exception {
    GgufHeader small = GgufHeader.read(SmallModel.gguf());
    compareWithLlamaCpp(
        TinyModel.write(small, splitter, folder.resolve(splitter + ".gguf")), new boolean[] {true});
  }

  private static void compareWithLlamaCpp(Path model, boolean[] choices) throws Exception {
    GgufHeader header = GgufHeader.read(model);
    Tokenizer tokenizer = Tokenizer.of(header);
    List<String> different = new ArrayList<>();
    try (RealServer server = RealServer.of(RealEngine.LLAMA_SERVER).model(model).start();
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      for (String text : Corpus.texts()) {
        for (boolean ends : choices) {
          for (boolean control : choices) {
            List<Integer> theirs = ask(client, server, text, ends, control);
            List<Integer> ours =
                Arrays.stream(tokenizer.tokenize(text, ends, control)).boxed().toList();
            if (!ours.equals(theirs)) {
              different.add(
                  "%s (ends %s, control %s): %s, llama.cpp %s"
                      .formatted(text, ends, control, ours, theirs));
            }
          }
        }
      }
      checkPieces(client, server, tokenizer);
      Optional<String> template = header.metadata().text("tokenizer.chat_template");
      if (template.isPresent()) {
        checkPrompts(client, server, template.get());
      }
    }
    assertThat(different).as("texts with other tokens").isEmpty();
  }

  /** Every hundredth token as text, a part of a character among them. */
  private static void checkPieces(HttpClient client, RealServer server, Tokenizer tokenizer)
      throws IOException, InterruptedException {
    for (int token = 0; token < tokenizer.size(); token += 101) {
      JsonNode reply = post(client, server, "/detokenize", Map.of("tokens", List.of(token)));
      assertThat(tokenizer.text(new int[] {token}))
          .as("token %d", token)
          .isEqualTo(reply.path("content").asString());
    }
  }

  /** The prompts that the model's own template makes of conversations. */
  private static void checkPrompts(HttpClient client, RealServer server, String template)
      throws IOException, InterruptedException, TemplateRefused {
    ChatTemplate ours = ChatTemplate.parse(template, TemplateLimits.DEFAULTS);
    Map<String, Object> system = Map.of("role", "system", "content", "Be brief.");
    Map<String, Object> user = Map.of("role", "user", "content", " Hi <|im_end|> \n é😀 ");
    Map<String, Object> assistant = Map.of("role", "assistant", "content", "");
    for (List<Map<String, Object>> messages :
        List.of(List.of(user), List.of(system, user), List.of(user, assistant, user))) {
      JsonNode reply = post(client, server, "/apply-template", Map.of("messages", messages));
      assertThat(
              ours.render(
                  Map.of("messages", messages, "add_generation_prompt", true), Clock.systemUTC()))
          .isEqualTo(reply.path("prompt").asString());
    }
  }

  private static List<Integer> ask(
      HttpClient client, RealServer server, String text, boolean ends, boolean control)
      throws IOException, InterruptedException {
    JsonNode reply =
        post(
            client,
            server,
            "/tokenize",
            Map.of("content", text, "add_special", ends, "parse_special", control));
    List<Integer> tokens = new ArrayList<>();
    reply.path("tokens").forEach(token -> tokens.add(token.asInt()));
    return tokens;
  }

  private static JsonNode post(
      HttpClient client, RealServer server, String path, Map<String, Object> body)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
            .POST(HttpRequest.BodyPublishers.ofString(JsonMapper.shared().writeValueAsString(body)))
            .build();
    HttpResponse<String> reply = client.send(request, HttpResponse.BodyHandlers.ofString());
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
    return JsonMapper.shared().readTree(reply.body());
  }
}
