package dev.flotilla.testkit.real;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.wire.connection.LoopbackPorts;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The fixtures themselves: each engine comes, answers, and leaves nothing behind. */
class RealServerTest {
  @Test
  void llamaServer() throws Exception {
    answers(RealServer.of(RealEngine.LLAMA_SERVER));
  }

  @Test
  @Tag(RealEngine.TAG)
  void mlxLm() throws Exception {
    answers(RealServer.of(RealEngine.MLX_LM));
  }

  @Test
  @Tag(RealEngine.TAG)
  void vllmWithAThinkingModel() throws Exception {
    answers(
        RealServer.of(RealEngine.VLLM)
            .model(SmallModel.thinkingFolder())
            .variable("VLLM_API_KEY", "a key")
            .options("--max-model-len", "1024", "--reasoning-parser", "deepseek_r1"));
  }

  private static void answers(RealServer.Order order) throws Exception {
    int port;
    try (RealServer server = order.start();
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      port = server.port();
      String body =
          "{\"model\":\"%s\",\"max_tokens\":4,\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}"
              .formatted(server.model());
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(server.baseUrl() + "/chat/completions"))
              .header("Content-Type", "application/json")
              .header("Authorization", "Bearer " + server.key())
              .POST(HttpRequest.BodyPublishers.ofString(body))
              .build();
      HttpResponse<String> reply = client.send(request, HttpResponse.BodyHandlers.ofString());
      assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
      // 30 tokens of the default system prompt and the frame, and the one that was sent.
      assertThat(reply.body()).containsPattern("\"prompt_tokens\": ?31\\b");
    }
    assertThat(LoopbackPorts.taken(port)).isFalse();
  }
}
