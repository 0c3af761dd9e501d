package dev.flotilla.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.http.StreamResponse;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Clients as they are published, unchanged, streaming and not. */
final class ClientsIT {
  private static final String KEY = "no-key-is-demanded";
  private static final int TOKENS = 16;

  @TempDir private static Path folder;
  private static TestFleet fleet;

  @BeforeAll
  static void start() {
    fleet = TestFleet.up(folder);
  }

  @AfterAll
  static void stop() {
    if (fleet != null) {
      fleet.close();
    }
  }

  private static String api() {
    return fleet.url() + "/v1";
  }

  @Test
  void openaiForPython() throws Exception {
    Path script = folder.resolve("openai_client.py");
    try (InputStream source = ClientsIT.class.getResourceAsStream("openai_client.py")) {
      assertThat(source).isNotNull();
      Files.copy(source, script);
    }
    String python = PythonTools.withOpenAi().toString();

    String said = PythonTools.run(python, script.toString(), api(), TestFleet.MODEL);

    assertThat(said).contains("all is well");
  }

  @Test
  void openaiForJava() {
    OpenAIClient client = OpenAIOkHttpClient.builder().baseUrl(api()).apiKey(KEY).build();
    ChatCompletionCreateParams chat =
        ChatCompletionCreateParams.builder()
            .model(TestFleet.MODEL)
            .addUserMessage("Say hi")
            .maxCompletionTokens(TOKENS)
            .build();
    try {
      ChatCompletion whole = client.chat().completions().create(chat);
      assertThat(whole.model()).isEqualTo(TestFleet.MODEL);
      assertThat(whole.choices().getFirst().message().content().orElse("")).isNotBlank();

      try (StreamResponse<ChatCompletionChunk> stream =
          client.chat().completions().createStreaming(chat)) {
        List<ChatCompletionChunk> chunks = stream.stream().toList();
        String text =
            chunks.stream()
                .flatMap(chunk -> chunk.choices().stream())
                .flatMap(choice -> choice.delta().content().stream())
                .collect(Collectors.joining());
        assertThat(text).isNotBlank();
        assertThat(chunks).allMatch(chunk -> chunk.model().equals(TestFleet.MODEL));
      }
    } finally {
      client.close();
    }
  }

  @Test
  void langChain4jInOnePiece() {
    OpenAiChatModel model =
        OpenAiChatModel.builder()
            .baseUrl(api())
            .apiKey(KEY)
            .modelName(TestFleet.MODEL)
            .maxTokens(TOKENS)
            .timeout(Duration.ofMinutes(2))
            .build();

    assertThat(model.chat("Say hi")).isNotBlank();
  }

  @Test
  void langChain4jStreaming() throws Exception {
    OpenAiStreamingChatModel model =
        OpenAiStreamingChatModel.builder()
            .baseUrl(api())
            .apiKey(KEY)
            .modelName(TestFleet.MODEL)
            .maxTokens(TOKENS)
            .timeout(Duration.ofMinutes(2))
            .build();
    Queue<String> heard = new ConcurrentLinkedQueue<>();
    CompletableFuture<ChatResponse> end = new CompletableFuture<>();

    model.chat(
        "Say hi",
        new StreamingChatResponseHandler() {
          @Override
          public void onPartialResponse(String part) {
            heard.add(part);
          }

          @Override
          public void onCompleteResponse(ChatResponse whole) {
            end.complete(whole);
          }

          @Override
          public void onError(Throwable problem) {
            end.completeExceptionally(problem);
          }
        });

    ChatResponse whole = end.get(2, TimeUnit.MINUTES);
    assertThat(whole.aiMessage().text()).isNotBlank().isEqualTo(String.join("", heard));
    assertThat(whole.tokenUsage().outputTokenCount()).isPositive();
  }
}
