package dev.flotilla.cli.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.core.http.StreamResponse;
import com.openai.errors.BadRequestException;
import com.openai.errors.NotFoundException;
import com.openai.errors.UnauthorizedException;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.models.FunctionDefinition;
import com.openai.models.FunctionParameters;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import com.openai.models.embeddings.EmbeddingCreateParams;
import com.openai.models.models.Model;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** openai-java, over OkHttp. */
@ExtendWith(SharedFleet.class)
final class OpenAiJavaIT {
  private final KeyedFleet fleet;
  private OpenAIClient client;

  OpenAiJavaIT(KeyedFleet fleet) {
    this.fleet = fleet;
  }

  @BeforeEach
  void connect() {
    client = client(fleet.key());
  }

  @AfterEach
  void disconnect() {
    client.close();
  }

  @Test
  void listsTheModels() {
    assertThat(client.models().list().items()).extracting(Model::id).containsExactly(fleet.model());
  }

  @Test
  void chatsInOnePiece() {
    ChatCompletion reply = client.chat().completions().create(chat(fleet.model()).build());

    assertThat(reply.model()).isEqualTo(fleet.model());
    assertThat(reply.choices().getFirst().message().content())
        .hasValueSatisfying(KeyedFleet::isText);
    assertThat(reply.usage())
        .hasValueSatisfying(usage -> assertThat(usage.completionTokens()).isBetween(1L, 8L));
  }

  @Test
  void chatsAsAStreamWithItsUsage() {
    ChatCompletionCreateParams streamed =
        chat(fleet.model())
            .streamOptions(ChatCompletionStreamOptions.builder().includeUsage(true).build())
            .build();
    ChatCompletionAccumulator accumulator = ChatCompletionAccumulator.create();
    List<ChatCompletionChunk> chunks;
    try (StreamResponse<ChatCompletionChunk> stream =
        client.chat().completions().createStreaming(streamed)) {
      chunks = stream.stream().peek(accumulator::accumulate).toList();
    }

    assertThat(chunks).hasSizeGreaterThan(2).allMatch(chunk -> chunk.model().equals(fleet.model()));
    ChatCompletion reply = accumulator.chatCompletion();
    assertThat(reply.choices().getFirst().message().content())
        .hasValueSatisfying(KeyedFleet::isText);
    assertThat(chunks.getLast().usage())
        .hasValueSatisfying(usage -> assertThat(usage.completionTokens()).isBetween(1L, 8L));
  }

  @Test
  void aRequestThatOffersToolsIsAnswered() {
    FunctionDefinition weather =
        FunctionDefinition.builder()
            .name("weather")
            .parameters(
                FunctionParameters.builder()
                    .putAdditionalProperty("type", JsonValue.from("object"))
                    .putAdditionalProperty(
                        "properties", JsonValue.from(Map.of("city", Map.of("type", "string"))))
                    .build())
            .build();

    assertThat(
            client
                .chat()
                .completions()
                .create(chat(fleet.model()).addFunctionTool(weather).build())
                .choices())
        .hasSize(1);
  }

  @Test
  void aModelThatIsUnknownIsNotFound() {
    assertThatExceptionOfType(NotFoundException.class)
        .isThrownBy(() -> client.chat().completions().create(chat("no-such-model").build()))
        .withMessageContaining("no-such-model")
        .satisfies(refused -> assertThat(refused.code()).hasValue("model_not_found"));
    assertThatExceptionOfType(NotFoundException.class)
        .isThrownBy(() ->
            client.chat().completions().createStreaming(chat("no-such-model").build()).close());
  }

  @Test
  void aWrongKeyIsUnauthorized() {
    OpenAIClient stranger = client("fk_wrong");
    assertThatExceptionOfType(UnauthorizedException.class)
        .isThrownBy(() -> stranger.chat().completions().create(chat(fleet.model()).build()));
    stranger.close();
  }

  @Test
  void embeddingsOfAModelThatHasNoneAreABadRequest() {
    assertThatExceptionOfType(BadRequestException.class)
        .isThrownBy(() ->
            client
                .embeddings()
                .create(
                    EmbeddingCreateParams.builder().model(fleet.model()).input("hello").build()))
        .withMessageContaining(fleet.model())
        .satisfies(refused -> assertThat(refused.code()).hasValue("model_not_capable"));
  }

  private OpenAIClient client(String key) {
    return OpenAIOkHttpClient.builder().baseUrl(fleet.api()).apiKey(key).build();
  }

  private static ChatCompletionCreateParams.Builder chat(String model) {
    return ChatCompletionCreateParams.builder()
        .model(model)
        .addUserMessage("Say hi")
        .maxCompletionTokens(8);
  }
}
