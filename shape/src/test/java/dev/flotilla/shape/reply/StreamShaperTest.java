package dev.flotilla.shape.reply;

import static dev.flotilla.shape.reply.Said.deltas;
import static dev.flotilla.shape.reply.Said.llama;
import static dev.flotilla.shape.reply.Said.mlx;
import static dev.flotilla.shape.reply.Said.vllm;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import dev.flotilla.wire.openai.ChunkScan;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** Streams as the three engines wrote them, and the one form that they are given. */
class StreamShaperTest {
  private static final String USAGE =
      ",\"stream\":true,\"stream_options\":{\"include_usage\":true}";
  private static final String ROLE = "{\"role\":\"assistant\",\"content\":null}";

  @Test
  void llamaServersOwnBytesGoOnUntouched() {
    Said said = Said.by(Dialect.LLAMA_SERVER, Reasoning.REASONING_CONTENT);
    StreamShaper shaper = said.shaper();
    for (String event :
        List.of(
            llama(ROLE, "null"),
            llama("{\"reasoning_content\":\"Hm\"}", "null"),
            llama("{\"content\":\"Hello\"}", "null"),
            llama("{}", "\"length\""))) {
      assertThat(shaper.passes(scan(event))).as(event).isTrue();
    }
    assertThat(shaper.finished()).isTrue();
  }

  @Test
  void allThreeEnginesAreGivenOneForm() {
    Said llama = Said.by(Dialect.LLAMA_SERVER, Reasoning.REASONING_CONTENT, USAGE);
    Said vllm = Said.by(Dialect.VLLM, Reasoning.REASONING_CONTENT, USAGE);
    Said mlx = Said.by(Dialect.MLX_LM, Reasoning.REASONING_CONTENT, USAGE);

    List<ObjectNode> fromLlama =
        llama.stream(
            llama(ROLE, "null"),
            llama("{\"content\":\"The\"}", "null"),
            llama("{\"content\":\" capital\"}", "null"),
            llama("{}", "\"length\""),
            "{\"choices\":[],\"created\":1,\"id\":\"c\",\"model\":\"m\",\"system_fingerprint\":\"b0-unknown\",\"object\":\"chat.completion.chunk\","
                + "\"usage\":{\"completion_tokens\":2,\"prompt_tokens\":32,\"total_tokens\":34,\"prompt_tokens_details\":{\"cached_tokens\":31}},"
                + "\"timings\":{\"cache_n\":31,\"prompt_n\":1,\"prompt_ms\":10.481}}");
    List<ObjectNode> fromVllm =
        vllm.stream(
            "{\"id\":\"chatcmpl-b2375eb098640207\",\"object\":\"chat.completion.chunk\",\"created\":1795974348,\"model\":\"smollm2\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"logprobs\":null,\"finish_reason\":null}],\"prompt_token_ids\":null,\"prompt_text\":null}",
            vllm("{\"content\":\"The\"}", "null"),
            "{\"id\":\"chatcmpl-b2375eb098640207\",\"object\":\"chat.completion.chunk\",\"created\":1795974348,\"model\":\"smollm2\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" capital\"},\"logprobs\":null,\"finish_reason\":\"length\",\"stop_reason\":null,\"token_ids\":null}]}",
            "{\"id\":\"chatcmpl-b2375eb098640207\",\"object\":\"chat.completion.chunk\",\"created\":1795974348,\"model\":\"smollm2\",\"choices\":[],\"usage\":{\"prompt_tokens\":37,\"total_tokens\":40,\"completion_tokens\":3,\"prompt_tokens_details\":{\"cached_tokens\":0,\"created_cache_tokens\":32}},\"system_fingerprint\":\"vllm-0.32.0-c1319506\"}");
    List<ObjectNode> fromMlx =
        mlx.stream(
            mlx("{\"role\": \"assistant\", \"content\": \"The\"}", "null"),
            mlx("{\"role\": \"assistant\", \"content\": \" capital\"}", "null"),
            mlx("{\"role\": \"assistant\"}", "\"length\""),
            "{\"id\": \"chatcmpl-51cbbec2\", \"system_fingerprint\": \"0.32.2-KERNEL\", \"model\": \"default_model\", \"created\": 1795974789, \"object\": \"chat.completion\", \"choices\": [], \"usage\": {\"prompt_tokens\": 32, \"completion_tokens\": 4, \"total_tokens\": 36, \"prompt_tokens_details\": {\"cached_tokens\": 31}}}");

    assertThat(deltas(fromLlama))
        .containsExactly(
            ROLE, "{\"content\":\"The\"}", "{\"content\":\" capital\"}", "length", "usage");
    assertThat(deltas(fromVllm)).isEqualTo(deltas(fromLlama));
    assertThat(deltas(fromMlx)).isEqualTo(deltas(fromLlama));
    for (int i = 0; i < fromLlama.size(); i++) {
      assertThat(names(fromVllm.get(i))).isEqualTo(names(fromLlama.get(i)));
      assertThat(names(fromMlx.get(i))).isEqualTo(names(fromLlama.get(i)));
    }
    assertThat(fromMlx)
        .allSatisfy(chunk -> {
          assertThat(chunk.path("model").asString()).isEqualTo("name");
          assertThat(chunk.path("object").asString()).isEqualTo("chat.completion.chunk");
          assertThat(chunk.toString()).doesNotContain("KERNEL");
        });
  }

  @Test
  void reasoningGoesFromWhereTheEngineHasItToWhereItIsPromised() {
    String[] events = {
      vllm("{\"role\":\"assistant\",\"content\":\"\"}", "null"),
      vllm("{\"reasoning\":\"Fra\"}", "null"),
      vllm("{\"reasoning\":\"nce\"}", "null"),
      vllm("{\"content\":\"\\n\\nParis\"}", "null"),
      vllm("{}", "\"stop\"")
    };
    assertThat(deltas(Said.by(Dialect.VLLM, Reasoning.REASONING_CONTENT).stream(events)))
        .containsExactly(
            ROLE,
            "{\"reasoning_content\":\"Fra\"}",
            "{\"reasoning_content\":\"nce\"}",
            "{\"content\":\"\\n\\nParis\"}",
            "stop");
    assertThat(deltas(Said.by(Dialect.VLLM, Reasoning.REASONING).stream(events)))
        .contains("{\"reasoning\":\"Fra\"}");
    assertThat(deltas(Said.by(Dialect.VLLM, Reasoning.OFF).stream(events)))
        .containsExactly(ROLE, "{\"content\":\"\\n\\nParis\"}", "stop");
    assertThat(deltas(Said.by(Dialect.VLLM, Reasoning.INLINE).stream(events)))
        .containsExactly(
            ROLE,
            "{\"content\":\"<think>\\nFra\"}",
            "{\"content\":\"nce\"}",
            "{\"content\":\"\\n</think>\\n\\nParis\"}",
            "stop");
    assertThat(deltas(Said.unpromised(Dialect.VLLM).stream(events)))
        .contains("{\"reasoning\":\"Fra\"}");
  }

  @Test
  void llamaServersFieldIsNamedAsThePromiseNamesIt() {
    String[] events = {
      llama(ROLE, "null"),
      llama("{\"reasoning_content\":\"Hm\"}", "null"),
      llama("{\"content\":\"Hi\"}", "null"),
      llama("{}", "\"stop\"")
    };
    assertThat(deltas(Said.by(Dialect.LLAMA_SERVER, Reasoning.REASONING).stream(events)))
        .containsExactly(ROLE, "{\"reasoning\":\"Hm\"}", "{\"content\":\"Hi\"}", "stop");
    assertThat(deltas(Said.by(Dialect.LLAMA_SERVER, Reasoning.OFF).stream(events)))
        .containsExactly(ROLE, "{\"content\":\"Hi\"}", "stop");
    assertThat(deltas(Said.by(Dialect.LLAMA_SERVER, Reasoning.INLINE).stream(events)))
        .containsExactly(
            ROLE,
            "{\"content\":\"<think>\\nHm\"}",
            "{\"content\":\"\\n</think>\\n\\nHi\"}",
            "stop");
  }

  @Test
  void thoughtsInTheTextOfAnEngineThatPlacesNone() {
    assertThat(
            deltas(
                Said.by(Dialect.MLX_LM, Reasoning.REASONING_CONTENT).stream(
                    mlx("{\"role\": \"assistant\", \"content\": \"<thi\"}", "null"),
                    mlx(
                        "{\"role\": \"assistant\", \"content\": \"nk>Hm</think>\\n\\nHi\"}",
                        "null"),
                    mlx("{\"role\": \"assistant\"}", "\"stop\""))))
        .containsExactly(ROLE, "{\"reasoning_content\":\"Hm\"}", "{\"content\":\"Hi\"}", "stop");
  }

  @Test
  void aToolCallOfVllmsStream() {
    List<String> deltas =
        deltas(
            Said.by(Dialect.VLLM, Reasoning.INLINE, ",\"tools\":" + Said.WEATHER).stream(
                vllm("{\"role\":\"assistant\",\"content\":\"\"}", "null"),
                vllm(
                    "{\"content\":null,\"tool_calls\":[{\"id\":\"chatcmpl-tool-86d4\",\"type\":\"function\",\"index\":0,\"function\":{\"name\":\"get_weather\"}}]}",
                    "null"),
                vllm(
                    "{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"ci\"}}]}",
                    "null"),
                vllm(
                    "{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"ty\\\":1}\"}}]}",
                    "null"),
                vllm("{}", "\"stop\"")));
    assertThat(deltas)
        .containsExactly(
            ROLE,
            "{\"tool_calls\":[{\"index\":0,\"id\":\"chatcmpl-tool-86d4\",\"type\":\"function\",\"function\":{\"name\":\"get_weather\",\"arguments\":\"\"}}]}",
            "{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"ci\"}}]}",
            "{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"ty\\\":1}\"}}]}",
            "tool_calls");
  }

  @Test
  void aToolCallThatMlxLmBringsAtOnce() {
    List<String> deltas =
        deltas(
            Said.by(Dialect.MLX_LM, Reasoning.INLINE, ",\"tools\":" + Said.WEATHER).stream(
                mlx(
                    "{\"role\": \"assistant\", \"tool_calls\": [{\"function\": {\"name\": \"get_weather\", \"arguments\": \"{}\"}, \"type\": \"function\", \"id\": \"0b2f\", \"index\": 0}]}",
                    "null"),
                mlx("{\"role\": \"assistant\"}", "\"tool_call\"")));
    assertThat(deltas)
        .containsExactly(
            ROLE,
            "{\"tool_calls\":[{\"index\":0,\"id\":\"0b2f\",\"type\":\"function\",\"function\":{\"name\":\"get_weather\",\"arguments\":\"\"}}]}",
            "{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{}\"}}]}",
            "tool_calls");
  }

  @Test
  void ofSeveralCallsOneWhereTheClientWantsNoMore() {
    String two =
        "{\"role\":\"assistant\",\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"get_weather\",\"arguments\":\"{}\"}},"
            + "{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"get_weather\",\"arguments\":\"{}\"}}]}";
    String tools = ",\"tools\":" + Said.WEATHER;
    assertThat(deltas(Said.by(Dialect.VLLM, Reasoning.INLINE, tools).stream(vllm(two, "null"))))
        .hasSize(5);
    assertThat(
            deltas(
                Said.by(Dialect.VLLM, Reasoning.INLINE, tools + ",\"parallel_tool_calls\":false")
                    .stream(vllm(two, "null"))))
        .hasSize(3);
  }

  @Test
  void usageIsToldOnceAndOnlyWhereItIsWanted() {
    String each =
        "{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":null}],\"usage\":{\"prompt_tokens\":3,\"total_tokens\":4,\"completion_tokens\":1}}";
    assertThat(deltas(Said.by(Dialect.VLLM, Reasoning.INLINE).stream(each, vllm("{}", "\"stop\""))))
        .containsExactly(ROLE, "{\"content\":\"x\"}", "stop");
    List<ObjectNode> told =
        Said.by(Dialect.VLLM, Reasoning.INLINE, USAGE).stream(each, vllm("{}", "\"stop\""));
    assertThat(deltas(told)).containsExactly(ROLE, "{\"content\":\"x\"}", "stop", "usage");
    assertThat(told.getFirst().has("usage")).isFalse();
  }

  @Test
  void llamaServersCompletionTellsItsUsageLikeAllOthers() {
    String text =
        "{\"choices\":[{\"text\":\" of\",\"index\":0,\"logprobs\":null,\"finish_reason\":null}],\"created\":1,\"model\":\"m\",\"system_fingerprint\":\"b0-unknown\",\"object\":\"text_completion\",\"id\":\"chatcmpl-B1\"}";
    String end =
        "{\"choices\":[{\"text\":\"\",\"index\":0,\"logprobs\":null,\"finish_reason\":\"length\"}],\"created\":1,\"model\":\"m\",\"system_fingerprint\":\"b0-unknown\",\"object\":\"text_completion\",\"usage\":{\"completion_tokens\":2,\"prompt_tokens\":2,\"total_tokens\":4,\"prompt_tokens_details\":{\"cached_tokens\":1}},\"id\":\"chatcmpl-B1\",\"timings\":{\"cache_n\":1}}";
    List<ObjectNode> chunks = Said.completion(Dialect.LLAMA_SERVER, USAGE).stream(text, end);
    assertThat(chunks).hasSize(3);
    assertThat(chunks.get(1).has("usage")).isFalse();
    assertThat(chunks.get(1).path("choices").path(0).path("finish_reason").asString())
        .isEqualTo("length");
    assertThat(chunks.get(2).path("choices")).isEmpty();
    assertThat(chunks.get(2).path("usage").path("prompt_tokens").asInt()).isEqualTo(2);
  }

  @Test
  void anEnginesOwnFieldsStayWhereTheyAreAskedFor() {
    String last =
        "{\"choices\":[{\"finish_reason\":\"stop\",\"index\":0,\"delta\":{}}],\"model\":\"m\",\"timings\":{\"cache_n\":7},\"new_field\":{\"a\":1}}";
    Said asked = Said.by(Dialect.LLAMA_SERVER, Reasoning.INLINE, ",\"timings_per_token\":true");
    assertThat(asked.stream(llama(ROLE, "null"), last).getLast().has("timings")).isTrue();
    ObjectNode plain =
        Said.by(Dialect.LLAMA_SERVER, Reasoning.INLINE).stream(llama(ROLE, "null"), last).getLast();
    assertThat(plain.has("timings")).isFalse();
    assertThat(plain.path("new_field").path("a").asInt()).as("unknown fields pass").isEqualTo(1);
  }

  @Test
  void unknownFieldsOfDeltaAndChoicePass() {
    List<ObjectNode> chunks =
        Said.unpromised(Dialect.UNKNOWN).stream(
            "{\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\",\"citations\":[1]},\"grade\":2,\"finish_reason\":null}]}");
    assertThat(chunks.toString()).contains("\"citations\":[1]", "\"grade\":2", "\"content\":\"x\"");
  }

  @Test
  void theHubStopsWhereTheEngineDoesNot() {
    Said said = Said.by(Dialect.MLX_LM, Reasoning.INLINE, ",\"stop\":\"Fra\"");
    StreamShaper shaper = said.shaper();
    for (String text : List.of("The", " capital of F", "rance", " is")) {
      byte[] json =
          mlx("{\"role\": \"assistant\", \"content\": \"" + text + "\"}", "null").getBytes(UTF_8);
      shaper.shape(json, 0, json.length);
    }
    assertThat(shaper.stopped()).isTrue();
    assertThat(shaper.finished()).isTrue();
    assertThat(
            deltas(
                said.stream(
                    mlx("{\"role\": \"assistant\", \"content\": \"The capital of F\"}", "null"),
                    mlx("{\"role\": \"assistant\", \"content\": \"rance is\"}", "null"))))
        .containsExactly(ROLE, "{\"content\":\"The capital of \"}", "stop");
  }

  @Test
  void logprobsComeWithTheTextThatTheyAreAbout() {
    String event =
        "{\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"content\":\"I\"},\"logprobs\":{\"content\":[{\"id\":57,\"token\":\"I\",\"bytes\":[73],\"logprob\":-1.9,\"top_logprobs\":[{\"id\":57,\"token\":\"I\",\"bytes\":[73],\"logprob\":-1.9},{\"id\":1,\"token\":\"H\",\"bytes\":[72],\"logprob\":-2.4}]}]}}],\"model\":\"m\"}";
    List<ObjectNode> chunks =
        Said.by(
            Dialect.LLAMA_SERVER,
            Reasoning.INLINE,
            ",\"stream\":true,\"logprobs\":true,\"top_logprobs\":1")
            .stream(llama(ROLE, "null"), event);
    assertThat(chunks.getLast().path("choices").path(0).path("logprobs").toString())
        .isEqualTo(
            "{\"content\":[{\"token\":\"I\",\"bytes\":[73],\"logprob\":-1.9,\"top_logprobs\":[{\"token\":\"I\",\"bytes\":[73],\"logprob\":-1.9}]}]}");
  }

  private static ChunkScan scan(String event) {
    byte[] json = event.getBytes(UTF_8);
    ChunkScan scan = new ChunkScan("name");
    assertThat(scan.scan(json, 0, json.length)).isTrue();
    return scan;
  }

  private static List<String> names(ObjectNode chunk) {
    return chunk.propertyStream().map(field -> field.getKey()).sorted().toList();
  }
}
