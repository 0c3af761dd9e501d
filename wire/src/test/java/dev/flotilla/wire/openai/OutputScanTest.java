package dev.flotilla.wire.openai;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a measuring client reads of a chunk. */
class OutputScanTest {
  private static final int TEXT_MAX = 1 << 20;

  private final OutputScan scan = new OutputScan(TEXT_MAX);

  @Test
  void aDeltaWithContentIsOutput() {
    assertThat(delta("{\"content\":\"Hi\"}")).isTrue();
    assertThat(scan.output()).isEqualTo("Hi");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"reasoning\":\"Hm\"}",
        "{\"reasoning_content\":\"Hm\"}",
        "{\"reasoning\":\"Hm\",\"reasoning_content\":\"Hm\"}",
        "{\"content\":null,\"reasoning_content\":\"Hm\"}",
        "{\"refusal\":\"Hm\"}",
        "{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"Hm\"}}]}",
        "{\"function_call\":{\"arguments\":\"Hm\"}}",
      })
  void thoughtsAndToolCallsAreOutputAsWell(String delta) {
    assertThat(delta(delta)).isTrue();
    assertThat(scan.output()).isEqualTo("Hm");
  }

  @Test
  void theNameOfAToolIsOutputButNotText() {
    assertThat(
            delta(
                "{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"type\":\"function\","
                    + "\"function\":{\"name\":\"weather\",\"arguments\":\"\"}}]}"))
        .isTrue();
    assertThat(scan.output()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"role\":\"assistant\"}",
        "{\"role\":\"assistant\",\"content\":\"\"}",
        "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[]}",
        "{\"note\":{\"content\":\"Hi\"}}",
        "{\"role\":\"\\\"content\\\":\\\"Hi\\\"\"}",
      })
  void theRoleAloneIsNone(String delta) {
    assertThat(delta(delta)).isFalse();
  }

  @Test
  void aCompletionsTextIsOutput() {
    assertThat(chunk("{\"choices\":[{\"index\":0,\"text\":\" a\",\"finish_reason\":null}]}"))
        .isTrue();
    assertThat(chunk("{\"choices\":[{\"index\":0,\"text\":\"\",\"finish_reason\":\"stop\"}]}"))
        .isFalse();
    assertThat(scan.output()).isEqualTo(" a");
    assertThat(scan.finishReason()).isEqualTo("stop");
  }

  @Test
  void theTextOfAllChunksIsDecodedAsOne() {
    // The halves of one character, as servers send them that write nothing but ASCII.
    delta("{\"content\":\"one\\n\\ud83d\"}");
    delta("{\"content\":\"\\ude00 \\\"two\\\" \u00e9\"}");

    assertThat(scan.output()).isEqualTo("one\n\ud83d\ude00 \"two\" \u00e9");
  }

  @Test
  void usageCountsTheTokens() {
    delta("{\"content\":\"Hi\"}");
    assertThat(scan.tokens()).isEqualTo(-1);

    assertThat(
            chunk(
                "{\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"total_tokens\":19,"
                    + "\"completion_tokens\":7,\"completion_tokens_details\":"
                    + "{\"completion_tokens\":99}}}"))
        .isFalse();
    assertThat(scan.tokens()).isEqualTo(7);
    assertThat(scan.promptTokens()).isEqualTo(12);
  }

  @Test
  void whereEachChunkSaysHowManyTokensThereAreATokenWithoutTextIsOutput() {
    String chunk =
        "{\"choices\":[{\"delta\":{\"content\":\"%s\"}}],"
            + "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":%d}}";

    assertThat(chunk(chunk.formatted("", 0))).as("the role").isFalse();
    assertThat(chunk(chunk.formatted("Hi", 3))).isTrue();
    assertThat(scan.countsTokens()).isTrue();
    assertThat(chunk(chunk.formatted("", 4))).as("the end's token").isTrue();
    assertThat(chunk(chunk.formatted("", 4))).isFalse();
    assertThat(scan.tokens()).isEqualTo(4);
  }

  @Test
  void llamaServersTimingsCountWhereThereIsNoUsage() {
    delta("{\"content\":\"Hi\"}");
    assertThat(
            chunk("{\"choices\":[{\"delta\":{}}],\"timings\":{\"prompt_n\":3,\"predicted_n\":8}}"))
        .as("a count that comes once is no token")
        .isFalse();

    assertThat(scan.tokens()).isEqualTo(8);
    assertThat(scan.countsTokens()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"error\":{\"message\":\"out of memory\",\"code\":500}}",
        "{\"error\":\"out of memory\"}",
        "{\"object\":\"error\",\"message\":\"out of memory\"}",
      })
  void anErrorInTheStreamIsSeen(String chunk) {
    chunk(chunk);

    assertThat(Objects.requireNonNull(scan.error()).message()).isEqualTo("out of memory");
  }

  @Test
  void aModelThatWritesJsonIsNotTakenForTheServer() {
    assertThat(delta("{\"content\":\"\\\",\\\"error\\\":{}},\\\"usage\\\":{\"}")).isTrue();
    assertThat(scan.error()).isNull();
    assertThat(scan.tokens()).isEqualTo(-1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "null", "[]", "{", "{\"choices\":[{\"delta\":{]}", "{} {}"})
  void whatIsNoObjectIsToldFromOne(String text) {
    byte[] json = text.getBytes(UTF_8);
    assertThat(scan.scan(json, 0, json.length)).isFalse();
  }

  @Test
  void countsThatAreNoneAreIgnored() {
    chunk("{\"choices\":[],\"usage\":{\"prompt_tokens\":null,\"completion_tokens\":-3}}");
    chunk("{\"choices\":[],\"usage\":{\"completion_tokens\":99999999999999999999}}");

    assertThat(scan.tokens()).isEqualTo(-1);
  }

  @Test
  void textBeyondTheLimitIsOutputThatIsNotKept() {
    OutputScan small = new OutputScan(4);
    byte[] chunk = "{\"choices\":[{\"text\":\"abc\"}]}".getBytes(UTF_8);
    for (int i = 0; i < 3; i++) {
      assertThat(small.scan(chunk, 0, chunk.length)).isTrue();
      assertThat(small.hasOutput()).isTrue();
    }
    assertThat(small.output()).isEqualTo("abc");
  }

  private boolean delta(String delta) {
    return chunk("{\"choices\":[{\"index\":0,\"delta\":" + delta + ",\"finish_reason\":null}]}");
  }

  private boolean chunk(String text) {
    byte[] json = text.getBytes(UTF_8);
    assertThat(scan.scan(json, 0, json.length)).as(text).isTrue();
    return scan.hasOutput();
  }
}
