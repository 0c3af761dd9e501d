package dev.flotilla.shape.reply;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import dev.flotilla.wire.openai.ChunkScan;
import dev.flotilla.wire.text.Json;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** Whole replies as the three engines wrote them, and the one form that they are given. */
class WholeShaperTest {
  private static final String VLLM =
      """
      {"id":"chatcmpl-b6b08c10d59202a1","object":"chat.completion","created":1795974320,"model":"smollm2","choices":[{"index":0,"message":{"role":"assistant","content":"The capital of France is Paris.","refusal":null,"annotations":null,"audio":null,"function_call":null,"reasoning":null},"logprobs":null,"finish_reason":"stop","stop_reason":null,"token_ids":null,"routed_experts":null}],"service_tier":null,"system_fingerprint":"vllm-0.32.0-c1319506","usage":{"prompt_tokens":37,"total_tokens":45,"completion_tokens":8,"prompt_tokens_details":null,"completion_tokens_details":null},"prompt_logprobs":null,"prompt_token_ids":null,"prompt_text":null,"kv_transfer_params":null,"ec_transfer_params":null,"metrics":null}\
      """;

  private static final String MLX =
      """
      {"id": "chatcmpl-51cbbec2", "system_fingerprint": "0.32.2-0.32.4-Linux-KERNEL-x86_64-with-glibc2.36-x86_64", "object": "chat.completion", "model": "default_model", "created": 1795974789, "choices": [{"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": "I'm glad to"}}], "usage": {"prompt_tokens": 32, "completion_tokens": 4, "total_tokens": 36, "prompt_tokens_details": {"cached_tokens": 24}}}\
      """;

  private static final String LLAMA =
      """
      {"choices":[{"finish_reason":"length","index":0,"message":{"role":"assistant","content":"Bye, m"}}],"created":1796006085,"model":"m","system_fingerprint":"b0-unknown","object":"chat.completion","usage":{"completion_tokens":4,"prompt_tokens":34,"total_tokens":38,"prompt_tokens_details":{"cached_tokens":0}},"id":"chatcmpl-XsxkZ1","timings":{"cache_n":0,"prompt_n":34}}\
      """;

  @Test
  void allThreeEnginesAreGivenOneForm() {
    ObjectNode llama = Said.by(Dialect.LLAMA_SERVER, Reasoning.INLINE).whole(LLAMA);
    ObjectNode vllm = Said.by(Dialect.VLLM, Reasoning.INLINE).whole(VLLM);
    ObjectNode mlx = Said.by(Dialect.MLX_LM, Reasoning.INLINE).whole(MLX);

    ObjectNode expected = (ObjectNode) Json.MAPPER.readTree(LLAMA);
    expected.remove("timings");
    assertThat(llama).isEqualTo(expected.put("model", "name"));
    assertThat(names(vllm)).isEqualTo(names(llama));
    assertThat(names(mlx)).isEqualTo(names(llama));
    assertThat(names((ObjectNode) vllm.path("choices").get(0)))
        .isEqualTo(names((ObjectNode) llama.path("choices").get(0)));
    assertThat(vllm.path("choices").path(0).path("message").toString())
        .isEqualTo("{\"role\":\"assistant\",\"content\":\"The capital of France is Paris.\"}");
    assertThat(mlx.toString()).doesNotContain("KERNEL", "default_model");
  }

  @Test
  void aReplyThatNeedsNothingKeepsItsBytes() {
    byte[] reply = (" " + LLAMA).getBytes(UTF_8);
    ChunkScan scan = new ChunkScan("name");
    assertThat(scan.scan(reply, 0, reply.length)).isTrue();
    WholeShaper shaper =
        new WholeShaper(Said.by(Dialect.LLAMA_SERVER, Reasoning.INLINE).form(), () -> "id");
    assertThat(new String(shaper.asItCame(scan, reply), UTF_8))
        .isEqualTo(
            " "
                + LLAMA
                    .replace("\"model\":\"m\"", "\"model\":\"name\"")
                    .replace(",\"timings\":{\"cache_n\":0,\"prompt_n\":34}", ""));
    String plain = LLAMA.replace(",\"timings\":{\"cache_n\":0,\"prompt_n\":34}", "");
    assertThat(shaper.shape((ObjectNode) Json.MAPPER.readTree(plain))).isEmpty();
  }

  @Test
  void reasoningInEachDirection() {
    String inField =
        VLLM.replace("\"content\":\"The capital of France is Paris.\"", "\"content\":\"Paris.\"")
            .replace("\"reasoning\":null", "\"reasoning\":\"France, so Paris.\"");
    String inText =
        MLX.replace("I'm glad to", "<think>\\nFrance, so Paris.\\n</think>\\n\\nParis.");

    for (ObjectNode whole :
        List.of(
            Said.by(Dialect.VLLM, Reasoning.REASONING_CONTENT).whole(inField),
            Said.by(Dialect.MLX_LM, Reasoning.REASONING_CONTENT).whole(inText))) {
      assertThat(message(whole))
          .isEqualTo(
              "{\"role\":\"assistant\",\"content\":\"Paris.\",\"reasoning_content\":\"France, so Paris.\"}");
    }
    assertThat(message(Said.by(Dialect.VLLM, Reasoning.INLINE).whole(inField)))
        .isEqualTo(
            "{\"role\":\"assistant\",\"content\":\"<think>\\nFrance, so Paris.\\n</think>\\n\\nParis.\"}");
    assertThat(message(Said.by(Dialect.MLX_LM, Reasoning.INLINE).whole(inText)))
        .isEqualTo(message(Said.by(Dialect.VLLM, Reasoning.INLINE).whole(inField)));
    assertThat(message(Said.by(Dialect.MLX_LM, Reasoning.OFF).whole(inText)))
        .isEqualTo("{\"role\":\"assistant\",\"content\":\"Paris.\"}");
  }

  @Test
  void aReplyThatIsAllReasoningHasAnEmptyText() {
    String all =
        VLLM.replace("\"content\":\"The capital of France is Paris.\"", "\"content\":null")
            .replace("\"reasoning\":null", "\"reasoning\":\"The capital\"");
    assertThat(message(Said.by(Dialect.VLLM, Reasoning.REASONING).whole(all)))
        .isEqualTo("{\"role\":\"assistant\",\"content\":\"\",\"reasoning\":\"The capital\"}");
  }

  @Test
  void toolCallsOfVllm() {
    String reply =
        VLLM.replace(
            "\"content\":\"The capital of France is Paris.\"",
            "\"content\":\"\",\"tool_calls\":[{\"id\":\"chatcmpl-tool-86d4\",\"type\":\"function\",\"function\":{\"name\":\"get_weather\",\"arguments\":\"{}\"}}]");
    ObjectNode whole =
        Said.by(Dialect.VLLM, Reasoning.INLINE, ",\"tools\":" + Said.WEATHER).whole(reply);
    assertThat(message(whole))
        .isEqualTo(
            "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"type\":\"function\",\"function\":{\"name\":\"get_weather\",\"arguments\":\"{}\"},\"id\":\"chatcmpl-tool-86d4\"}]}");
    assertThat(whole.path("choices").path(0).path("finish_reason").asString())
        .as("vLLM says stop where the client named the tool")
        .isEqualTo("tool_calls");
  }

  @Test
  void toolCallsThatVllmLeftInTheTextWhenTheyWereCut() {
    String reply =
        VLLM.replace(
                "The capital of France is Paris.",
                "<tool_call>\\n{\\\"name\\\": \\\"get_weather\\\", \\\"arguments\\\": \\\"Paris\\\"}\\n</too")
            .replace("\"finish_reason\":\"stop\"", "\"finish_reason\":\"length\"");
    ObjectNode whole =
        Said.by(Dialect.VLLM, Reasoning.INLINE, ",\"tools\":" + Said.WEATHER).whole(reply);
    assertThat(whole.path("choices").path(0).path("finish_reason").asString()).isEqualTo("length");
    assertThat(
            whole
                .path("choices")
                .path(0)
                .path("message")
                .path("tool_calls")
                .path(0)
                .path("id")
                .asString())
        .isEqualTo("call_1");
  }

  @Test
  void mlxLmsLogprobsOfTokensAsItsVocabularyWritesThem() {
    String reply =
        MLX.replace(
            "\"finish_reason\": \"length\"",
            "\"finish_reason\": \"length\", \"logprobs\": {\"content\": [{\"id\": 1, \"token\": \"\\u0120glad\", \"logprob\": -2.5, \"top_logprobs\": [{\"id\": 2, \"token\": \"\\u0120a\", \"logprob\": -3.0}, {\"id\": 1, \"token\": \"\\u0120glad\", \"logprob\": -2.5}]}]}");
    ObjectNode whole =
        Said.by(Dialect.MLX_LM, Reasoning.INLINE, ",\"logprobs\":true,\"temperature\":0")
            .whole(reply);
    assertThat(whole.path("choices").path(0).path("logprobs").toString())
        .isEqualTo(
            "{\"content\":[{\"token\":\" glad\",\"bytes\":[32,103,108,97,100],\"logprob\":-2.5,\"top_logprobs\":[]}]}");
  }

  @Test
  void llamaServersCompletionLogprobsHaveTheirOwnForm() {
    ObjectNode whole =
        Said.completion(Dialect.LLAMA_SERVER, ",\"logprobs\":1")
            .whole(
                "{\"choices\":[{\"text\":\" of\",\"index\":0,\"logprobs\":{\"content\":[{\"id\":282,\"token\":\" of\",\"bytes\":[32],\"logprob\":-0.3,\"top_logprobs\":[{\"id\":282,\"token\":\" of\",\"bytes\":[32],\"logprob\":-0.3},{\"id\":1,\"token\":\" city\",\"bytes\":[1],\"logprob\":-2.5}]},{\"id\":2,\"token\":\" R\",\"bytes\":[1],\"logprob\":-4.5,\"top_logprobs\":[]}]},\"finish_reason\":\"length\"}],\"object\":\"text_completion\",\"model\":\"m\"}");
    assertThat(whole.path("choices").path(0).path("logprobs").toString())
        .isEqualTo(
            "{\"text_offset\":[0,3],\"token_logprobs\":[-0.3,-4.5],\"tokens\":[\" of\",\" R\"],\"top_logprobs\":[{\" of\":-0.3},{}]}");
  }

  @Test
  void severalAnswersAreOneReply() {
    Said said = Said.by(Dialect.MLX_LM, Reasoning.INLINE, ",\"n\":2");
    ReplyForm second =
        new ReplyForm(
            said.form().asked(), Dialect.MLX_LM, said.form().promise(), "name", "fp_1", 1);
    ObjectNode all =
        SeveralAnswers.join(
            said.form().asked(),
            List.of(said.whole(MLX), new Said(second).whole(MLX.replace("glad to", "there"))));
    assertThat(all.path("choices")).hasSize(2);
    assertThat(all.path("choices").path(1).path("index").asInt()).isEqualTo(1);
    assertThat(all.path("usage").path("prompt_tokens").asInt()).isEqualTo(32);
    assertThat(all.path("usage").path("completion_tokens").asInt()).isEqualTo(8);
    assertThat(all.path("usage").path("total_tokens").asInt()).isEqualTo(40);
  }

  private static String message(ObjectNode whole) {
    return whole.path("choices").path(0).path("message").toString();
  }

  private static List<String> names(ObjectNode node) {
    return node.propertyStream().map(field -> field.getKey()).sorted().toList();
  }
}
