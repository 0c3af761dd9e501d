package dev.flotilla.wire.openai;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.wire.http.SseReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** What the relay learns of chunks as engines write them, and as nobody should. */
class ChunkScanTest {
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();
  private static final int MUTATIONS = 40_000;

  private static final String DELTA =
      "{\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"content\":\" the\"}}],"
          + "\"created\":1767225600,\"id\":\"chatcmpl-x\",\"model\":\"SmolLM2-135M\",\"object\":\"chat.completion.chunk\"}";
  private static final String FINISH =
      "{\"choices\":[{\"finish_reason\":\"stop\",\"index\":0,\"delta\":{}}],\"model\":\"SmolLM2-135M\","
          + "\"timings\":{\"cache_n\":7,\"prompt_n\":32,\"prompt_ms\":50.5,\"prompt_per_token_ms\":1.57,"
          + "\"predicted_n\":5,\"predicted_ms\":81.25}}";
  private static final String USAGE =
      "{\"choices\":[],\"model\":\"SmolLM2-135M\",\"usage\":{\"completion_tokens\":5,\"prompt_tokens\":39,"
          + "\"total_tokens\":44,\"prompt_tokens_details\":{\"cached_tokens\":7}}}";

  private final ChunkScan scan = new ChunkScan("smollm2");

  @Test
  void aChunkInTheMiddleSaysLittle() {
    assertThat(scan(DELTA)).isTrue();
    assertThat(scan.choices()).isEqualTo(1);
    assertThat(scan.finished()).isFalse();
    assertThat(scan.usage()).isNull();
    assertThat(scan.timings()).isNull();
    assertThat(scan.error()).isNull();
    assertThat(renamed(DELTA)).isEqualTo(DELTA.replace("SmolLM2-135M", "smollm2"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"role\":\"assistant\",\"content\":null},\"finish_reason\":null",
        "{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null},\"logprobs\":null,\"finish_reason\":null",
        "{\"content\":\" the\"},\"finish_reason\":null,\"unknown\":[1]",
        "{\"reasoning_content\":\"Hm\"}",
        "{},\"finish_reason\":\"stop\"",
        "{},\"finish_reason\":\"length\"",
      })
  void aChunkInTheOneFormIsPlain(String choice) {
    assertThat(scan(chunk(choice))).isTrue();
    assertThat(scan.plain()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"role\":\"assistant\",\"content\":\"I\"}",
        "{\"content\":\"\"}",
        "{\"reasoning_content\":\"\"}",
        "{\"reasoning\":\"Hm\"}",
        "{\"reasoning_content\":\"Hm\",\"content\":\"I\"}",
        "{\"tool_calls\":[]}",
        "{\"unknown\":1}",
        "{}",
        "{\"content\":\"I\"},\"finish_reason\":\"stop\"",
        "{},\"finish_reason\":\"tool_calls\"",
        "{},\"finish_reason\":\"stop\",\"index\":1",
        "{},\"finish_reason\":\"stop\",\"index\":00",
        "{\"content\":\"I\"},\"logprobs\":{}",
        "{\"content\":\"I\"}}],\"timings\":{\"prompt_n\":1},\"x\":[{\"y\":1",
        "{\"content\":\"I\"}}],\"usage\":{\"prompt_tokens\":1},\"x\":[{\"y\":1",
        "{\"content\":\"I\"}},{\"index\":0,\"delta\":{\"content\":\"I\"}",
      })
  void aChunkInAnyOtherFormIsNot(String choice) {
    assertThat(scan(chunk(choice))).isTrue();
    assertThat(scan.plain()).isFalse();
  }

  private static String chunk(String choice) {
    return "{\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":" + choice + "}]}";
  }

  @Test
  void aPieceOfACompletionIsPlainItsEndIsNot() {
    assertThat(
            scan(
                "{\"choices\":[{\"text\":\" of\",\"index\":0,\"logprobs\":null,\"finish_reason\":null}]}"))
        .isTrue();
    assertThat(scan.plain()).isTrue();
    assertThat(scan("{\"choices\":[{\"text\":\"\",\"index\":0,\"finish_reason\":\"length\"}]}"))
        .isTrue();
    assertThat(scan.plain()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"timings\":{\"prompt_n\":1},\"model\":\"m\",\"a\":1}",
        "{ \"timings\" : {\"prompt_n\":1} , \"model\":\"m\",\"a\":1}",
        "{\"model\":\"smollm2\",\"a\":1,\"timings\":{\"prompt_n\":1}}",
        "{\"a\":1 , \"timings\":{\"prompt_n\":1},\"model\":\"m\"}",
        "{\"timings\":{\"prompt_n\":1}}",
      })
  void timingsAreCutOutAndNothingElse(String reply) {
    byte[] json = reply.getBytes(UTF_8);
    assertThat(scan.scan(json, 0, json.length)).isTrue();
    ObjectNode expected = (ObjectNode) JSON.readTree(reply);
    expected.remove("timings");
    if (expected.has("model")) {
      expected.put("model", "smollm2");
    }
    assertThat(JSON.readTree(scan.withModelAlone(json))).isEqualTo(expected);
  }

  @Test
  void aWholeReplyInTheOneFormIsPlain() {
    String plain =
        "{\"choices\":[{\"finish_reason\":\"stop\",\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"\"}}],\"usage\":{},\"timings\":{}}";
    assertThat(scan(plain)).isTrue();
    assertThat(scan.plainWhole()).isTrue();
    for (String other :
        new String[] {
          plain.replace("\"content\":\"\"", "\"content\":null"),
          plain.replace("\"content\":\"\"", "\"content\":\"\",\"tool_calls\":[{}]"),
          plain.replace("stop", "eos"),
          plain.replace("\"index\":0", "\"index\":0,\"logprobs\":{}"),
        }) {
      assertThat(scan(other)).isTrue();
      assertThat(scan.plainWhole()).as(other).isFalse();
    }
  }

  @Test
  void theLastChunksTellTheEndAndWhatItCost() {
    assertThat(scan(FINISH)).isTrue();
    assertThat(scan.finished()).isTrue();
    assertThat(scan.timings()).isEqualTo(new EngineTimings(32, 50.5, 5, 81.25, 7));
    assertThat(scan(USAGE)).isTrue();
    assertThat(scan.finished()).isFalse();
    assertThat(scan.choices()).isZero();
    assertThat(scan.timings()).isNull();
    assertThat(scan.usage()).isEqualTo(new TokenUsage(39, 5, 7));
  }

  @Test
  void usageIsReadTheSameWhateverElseAnEngineWritesIntoIt() {
    record Case(String usage, TokenUsage read) {}
    for (Case each :
        new Case[] {
          new Case("{}", new TokenUsage(0, 0, -1)),
          new Case("{ \"prompt_tokens\" : 12 , \"total_tokens\":12}", new TokenUsage(12, 0, -1)),
          new Case(
              "{\"completion_tokens\":3,\"prompt_tokens\":9,\"prompt_tokens_details\":{\"cached_tokens\":4,\"audio_tokens\":1},\"completion_tokens_details\":{\"cached_tokens\":7}}",
              new TokenUsage(9, 3, 4)),
          new Case(
              "{\"prompt_tokens\":9,\"completion_tokens\":3,\"prompt_tokens_details\":null,\"cost\":\"1 ct\"}",
              new TokenUsage(9, 3, -1)),
          new Case("{\"prompt\\u005ftokens\":9}", new TokenUsage(9, 0, -1)),
          new Case("{\"prompt_tokens\":9.0,\"completion_tokens\":3e1}", new TokenUsage(9, 30, -1)),
          new Case("{\"prompt_tokens\":-1,\"completion_tokens\":null}", new TokenUsage(0, 0, -1)),
          new Case(
              "{\"cached_tokens\":5,\"prompt_tokens_details\":{\"deep\":{\"cached_tokens\":5}}}",
              new TokenUsage(0, 0, -1)),
        }) {
      assertThat(scan("{\"usage\":" + each.usage() + "}")).as(each.usage()).isTrue();
      assertThat(scan.usage()).as(each.usage()).isEqualTo(each.read());
    }
    for (String broken : new String[] {"{\"prompt_tokens\":012}", "{\"prompt_tokens\":tru}"}) {
      assertThat(scan("{\"usage\":" + broken + "}")).as(broken).isFalse();
    }
  }

  @Test
  void anyChoiceThatIsFinishedCounts() {
    assertThat(
            scan(
                "{\"choices\":[{\"finish_reason\":null},{\"index\":1,\"finish_reason\":\"length\"}, {}]}"))
        .isTrue();
    assertThat(scan.choices()).isEqualTo(3);
    assertThat(scan.finished()).isTrue();
  }

  @Test
  void errorsAreReadInEveryDialect() {
    assertThat(scan("{\"error\":{\"code\":500,\"message\":\"broken\",\"type\":\"server_error\"}}"))
        .isTrue();
    assertThat(scan.error())
        .isEqualTo(
            new EngineError("broken", "server_error", "500", "", java.util.Optional.empty()));
    assertThat(scan("{\"error\": \"Unauthorized\"}")).isTrue();
    assertThat(scan.error()).extracting(EngineError::message).isEqualTo("Unauthorized");
    assertThat(
            scan(
                "{\"object\":\"error\",\"message\":\"no\",\"type\":\"NotFoundError\",\"code\":404}"))
        .isTrue();
    assertThat(scan.error()).extracting(EngineError::type).isEqualTo("NotFoundError");
    assertThat(scan("{\"error\":null,\"choices\":[]}")).isTrue();
    assertThat(scan.error()).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"choices\":[{\"finish_reason\":null,\"delta\":{\"content\":\"\\\"finish_reason\\\":\\\"stop\\\"\"}}]}",
        "{\"choices\":[{\"finish_reason\":null,\"delta\":{\"content\":\"x\\\\\\\"finish_reason\\\":1\"}}]}",
        "{\"choices\":[{\"finish_reason\":null,\"delta\":{\"a\\\"finish_reason\":\"stop\"}}]}",
        "{\"choices\":[{\"delta\":{\"finish_reason\":\"stop\",\"error\":{\"message\":\"x\"}}}]}",
        "{\"choices\":[{\"x\":[{\"finish_reason\":\"stop\"}]}],\"y\":{\"usage\":{\"prompt_tokens\":1}}}",
        "{\"x\":\"finish_reason\",\"finish_reason\":\"stop\",\"y\":\"error\"}",
        "{\"choices\":{\"finish_reason\":\"stop\"},\"usage\":null,\"timings\":[],\"error\":false}",
        "{\"x\":\"}],\\\"usage\\\":{\\\"prompt_tokens\\\":1}\",\"choices\":[]}",
      })
  void whatAModelWritesNeverPassesForAField(String hostile) {
    assertThat(scan(hostile)).isTrue();
    assertThat(scan.finished()).isFalse();
    assertThat(scan.usage()).isNull();
    assertThat(scan.timings()).isNull();
    assertThat(scan.error()).isNull();
    assertThat(scan.modelDiffers()).isFalse();
  }

  @Test
  void onlyTheTopLevelModelIsRenamed() {
    String chunk =
        "{\"x\":{\"model\":\"inner\"},\"s\":\"\\\"model\\\":\\\"no\\\"\",\"model\" : \"outer\\\"\\\\\",\"z\":1}";
    assertThat(scan(chunk)).isTrue();
    assertThat(renamed(chunk)).isEqualTo(chunk.replace("\"outer\\\"\\\\\"", "\"smollm2\""));
  }

  @Test
  void namesWrittenWithEscapesAreTheSameNames() {
    String chunk =
        "{\"mod\\u0065l\":\"x\",\"choic\\u0065s\":[{\"fini\\u0073h_reason\":\"stop\"}],\"\\ud800\\u0\":1}";
    scan(chunk);
    assertThat(scan.finished()).isTrue();
    assertThat(renamed(chunk)).contains("\"mod\\u0065l\":\"smollm2\"");
  }

  @Test
  void theRightNameIsNotCopied() {
    byte[] chunk = DELTA.replace("SmolLM2-135M", "smollm2").getBytes(UTF_8);
    scan.scan(chunk, 0, chunk.length);
    assertThat(scan.modelDiffers()).isFalse();
    assertThat(scan.withModel(chunk)).isSameAs(chunk);
    byte[] nameless = "{\"choices\":[],\"model\":null}".getBytes(UTF_8);
    scan.scan(nameless, 0, nameless.length);
    assertThat(scan.withModel(nameless)).isSameAs(nameless);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "[DONE]",
        "[]",
        "null",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{a:1}",
        "{\"a\":\"x}",
        "{\"a\":{}",
        "{\"a\":[}",
        "{}{}",
        "{} x",
        "{\"a\" 1}",
        "{\"choices\":[",
        "{\"choices\":[{]}",
        "{\"choices\":[{},]}",
        "{\"usage\":{\"a\":nope}}",
        "{\"a\":}",
        "<html></html>",
        "{\"error\":{\"message\":\"\\x\"}}",
      })
  void whatIsNotOneObjectIsToldApart(String broken) {
    assertThat(scan(broken)).isFalse();
  }

  @Test
  void anEventGoesOutAsItCameButForTheName() throws IOException {
    String stream =
        ": ping\n\nid: 7\ndata: "
            + DELTA
            + "\n\ndata: {\"model\":\ndata:\"x\",\ndata: \"choices\":[]}\n\ndata: [DONE]\n\n";
    SseReader events =
        new SseReader(new ByteArrayInputStream(stream.getBytes(UTF_8)), SseReader.EVENT_BYTES_MAX);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    while (events.next()) {
      scan.scan(events.dataBuffer(), events.dataStart(), events.dataLength());
      scan.writeEvent(out, events);
    }
    assertThat(out.toString(UTF_8))
        .isEqualTo(
            ": ping\n\nid: 7\ndata: "
                + DELTA.replace("SmolLM2-135M", "smollm2")
                + "\n\ndata: {\"model\":\ndata: \"smollm2\",\ndata: \"choices\":[]}\n\ndata: [DONE]\n\n");
  }

  @Test
  void aScanAgreesWithAParserOnWhateverTheParserTakes() {
    Random random = new Random(11);
    String[] seeds = {
      DELTA, FINISH, USAGE, "{\"error\":{\"message\":\"m\"}, \"model\":\"\\u00e9\"}"
    };
    String[] parts = {
      "\"",
      "\\",
      "\\\"",
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      " ",
      "null",
      "\"finish_reason\":\"x\",",
      "\"model\":\"m\",",
      "\"choices\":[{}],",
      "\"usage\":{},",
      "é",
      "1",
      "-"
    };
    int taken = 0;
    for (int i = 0; i < MUTATIONS; i++) {
      StringBuilder chunk = new StringBuilder(seeds[random.nextInt(seeds.length)]);
      for (int j = random.nextInt(3); j >= 0; j--) {
        int at = random.nextInt(chunk.length());
        if (random.nextBoolean()) {
          chunk.insert(at, parts[random.nextInt(parts.length)]);
        } else {
          chunk.deleteCharAt(at);
        }
      }
      String json = chunk.toString();
      JsonNode tree = parsed(json);
      boolean whole = scan(json);
      if (tree != null && tree.isObject()) {
        taken++;
        assertThat(whole).as(json).isTrue();
        assertThat(scan.finished()).as(json).isEqualTo(finished(tree));
        String name = tree.path("model").asString("");
        if (tree.path("model").isString()) {
          assertThat(scan.modelDiffers()).as(json).isEqualTo(!name.equals("smollm2"));
          assertThat(renamed(json)).as(json).contains("\"smollm2\"");
        }
      }
    }
    assertThat(taken).isGreaterThan(MUTATIONS / 20);
  }

  private static boolean finished(JsonNode tree) {
    boolean finished = false;
    if (tree.path("choices").isArray()) {
      for (JsonNode choice : tree.path("choices")) {
        finished |= choice.has("finish_reason") && !choice.path("finish_reason").isNull();
      }
    }
    return finished;
  }

  /**
   * The tree; null where the text is not JSON, or a name stands twice and a tree would drop one.
   */
  private static @Nullable JsonNode parsed(String json) {
    try {
      return JSON.readTree(json);
    } catch (JacksonException _) {
      return null;
    }
  }

  private boolean scan(String json) {
    byte[] padded = ("xx" + json + "yy").getBytes(UTF_8);
    return scan.scan(padded, 2, padded.length - 4);
  }

  private String renamed(String json) {
    byte[] bytes = json.getBytes(UTF_8);
    scan.scan(bytes, 0, bytes.length);
    return new String(scan.withModel(bytes), UTF_8);
  }
}
