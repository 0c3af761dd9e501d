package dev.flotilla.cli.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.exception.AuthenticationException;
import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.exception.ModelNotFoundException;
import dev.langchain4j.model.catalog.ModelDescription;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiEmbeddingModel;
import dev.langchain4j.model.openai.OpenAiModelCatalog;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * LangChain4j with its default HTTP client, the JDK's, which asks on plain {@code http:} with each
 * request for an upgrade to HTTP/2: the hub goes on in HTTP/1.1 and reads the body.
 */
@ExtendWith(SharedFleet.class)
final class LangChain4jIT {
  private final KeyedFleet fleet;

  LangChain4jIT(KeyedFleet fleet) {
    this.fleet = fleet;
  }

  @Test
  void listsTheModels() {
    assertThat(
            OpenAiModelCatalog.builder()
                .baseUrl(fleet.api())
                .apiKey(fleet.key())
                .build()
                .listModels())
        .extracting(ModelDescription::name)
        .containsExactly(fleet.model());
  }

  @Test
  void chatsInOnePiece() {
    ChatResponse reply = chat(fleet.model(), fleet.key()).chat(UserMessage.from("Say hi"));

    KeyedFleet.isText(reply.aiMessage().text());
    assertThat(reply.modelName()).isEqualTo(fleet.model());
    assertThat(reply.tokenUsage().outputTokenCount()).isBetween(1, 8);
  }

  @Test
  void chatsAsAStreamWithItsUsage() throws Exception {
    Heard heard = new Heard();
    streaming(fleet.model(), fleet.key()).chat("Say hi", heard);
    ChatResponse reply = heard.whole();

    KeyedFleet.isText(reply.aiMessage().text());
    assertThat(String.join("", heard.parts)).isEqualTo(reply.aiMessage().text());
    assertThat(reply.modelName()).isEqualTo(fleet.model());
    assertThat(reply.tokenUsage().outputTokenCount()).isBetween(1, 8);
  }

  @Test
  void aRequestThatOffersToolsIsAnswered() {
    ToolSpecification weather =
        ToolSpecification.builder()
            .name("weather")
            .parameters(JsonObjectSchema.builder().addStringProperty("city").build())
            .build();
    ChatRequest request =
        ChatRequest.builder()
            .messages(UserMessage.from("Say hi"))
            .toolSpecifications(weather)
            .build();

    assertThat(chat(fleet.model(), fleet.key()).chat(request).finishReason()).isNotNull();
  }

  @Test
  void aModelThatIsUnknownIsNotFound() {
    assertThatExceptionOfType(ModelNotFoundException.class)
        .isThrownBy(() -> chat("no-such-model", fleet.key()).chat("Say hi"))
        .withMessageContaining("no-such-model");
    Heard heard = new Heard();
    streaming("no-such-model", fleet.key()).chat("Say hi", heard);
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(heard::whole)
        .withCauseInstanceOf(ModelNotFoundException.class);
  }

  @Test
  void aWrongKeyIsAnAuthenticationException() {
    assertThatExceptionOfType(AuthenticationException.class)
        .isThrownBy(() -> chat(fleet.model(), "fk_wrong").chat("Say hi"));
  }

  @Test
  void embeddingsOfAModelThatHasNoneAreAnInvalidRequest() {
    OpenAiEmbeddingModel embeddings =
        OpenAiEmbeddingModel.builder()
            .baseUrl(fleet.api())
            .apiKey(fleet.key())
            .modelName(fleet.model())
            .build();

    assertThatExceptionOfType(InvalidRequestException.class)
        .isThrownBy(() -> embeddings.embed("hello"))
        .withMessageContaining(fleet.model())
        .withMessageContaining("model_not_capable");
  }

  private OpenAiChatModel chat(String model, String key) {
    return OpenAiChatModel.builder()
        .baseUrl(fleet.api())
        .apiKey(key)
        .modelName(model)
        .maxTokens(8)
        .build();
  }

  private OpenAiStreamingChatModel streaming(String model, String key) {
    return OpenAiStreamingChatModel.builder()
        .baseUrl(fleet.api())
        .apiKey(key)
        .modelName(model)
        .maxTokens(8)
        .build();
  }

  /** A stream's parts, and its end. */
  private static final class Heard implements StreamingChatResponseHandler {
    final Queue<String> parts = new ConcurrentLinkedQueue<>();
    private final CompletableFuture<ChatResponse> end = new CompletableFuture<>();

    ChatResponse whole() throws Exception {
      return end.get(KeyedFleet.ANSWER_LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    @Override
    public void onPartialResponse(String part) {
      parts.add(part);
    }

    @Override
    public void onCompleteResponse(ChatResponse response) {
      end.complete(response);
    }

    @Override
    public void onError(Throwable error) {
      end.completeExceptionally(error);
    }
  }
}
