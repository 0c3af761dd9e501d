package dev.flotilla.shape.reply;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tool calls as models write them into their text, whole and cut, and what only looks like one. */
class ToolCallProseTest {
  @Test
  void hermesAndQwen() {
    expect(
        "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>",
        "get_weather({\"city\":\"Paris\"})",
        "stop");
  }

  @Test
  void severalCallsAndTextBeforeThem() {
    expect(
        "Let me look.\n\n<tool_call>\n{\"name\":\"get_weather\",\"arguments\":{\"city\":\"a\"}}\n</tool_call>\n<tool_call>\n{\"name\":\"get_weather\",\"arguments\":{\"city\":\"b\"}}\n</tool_call>\n",
        "text:Let me look.",
        "get_weather({\"city\":\"a\"})",
        "get_weather({\"city\":\"b\"})",
        "stop");
  }

  @Test
  void theCloseTagInsideOfAnArgumentEndsNothing() {
    expect(
        "<tool_call>{\"name\":\"get_weather\",\"arguments\":{\"city\":\"</tool_call>\"}}</tool_call>",
        "get_weather({\"city\":\"</tool_call>\"})",
        "stop");
  }

  @Test
  void qwen3CoderByTheTypesOfTheTool() {
    expect(
        "<tool_call>\n<function=get_weather>\n<parameter=city>\n12\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
        "get_weather({\"city\":\"12\",\"days\":3})",
        "stop");
    expect(
        "<function=get_weather>\n<parameter=city>\nSan\nJuan\n</parameter>\n</function>",
        "get_weather({\"city\":\"San\\nJuan\"})",
        "stop");
  }

  @Test
  void llama3() {
    expect(
        "{\"name\": \"get_weather\", \"parameters\": {\"city\": \"Paris\"}}",
        "get_weather({\"city\":\"Paris\"})",
        "stop");
    expect(
        "<|python_tag|>{\"name\": \"get_weather\", \"parameters\": {\"city\": \"a\"}}; "
            + "{\"name\": \"get_weather\", \"parameters\": {\"city\": \"b\"}}",
        "get_weather({\"city\":\"a\"})",
        "get_weather({\"city\":\"b\"})",
        "stop");
    expect(
        "{\"type\": \"function\", \"name\": \"get_weather\", \"parameters\": {}}",
        "get_weather({})",
        "stop");
  }

  @Test
  void mistral() {
    expect(
        "[TOOL_CALLS][{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}, \"id\": \"VvvODy9mT\"}]",
        "get_weather({\"city\":\"Paris\"})",
        "stop");
    expect(
        "[TOOL_CALLS]get_weather[ARGS]{\"city\": \"Paris\"}[TOOL_CALLS]get_weather[ARGS]{\"city\": \"Oslo\"}",
        "get_weather({\"city\":\"Paris\"})",
        "get_weather({\"city\":\"Oslo\"})",
        "stop");
  }

  @Test
  void aCallThatTheLimitCutIsGivenAsFarAsItGoes() {
    expect(
        "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Par",
        "get_weather({\"city\": \"Par)",
        "length");
    expect("<tool_call>\n{\"name\": \"get_weather\"", "get_weather()", "length");
    expect(
        "<tool_call><function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n<parameter=days>\n1",
        "get_weather({\"city\":\"Oslo\")",
        "length");
    expect(
        "[TOOL_CALLS]get_weather[ARGS]{\"city\": \"Pa", "get_weather({\"city\": \"Pa)", "length");
    expect("{\"name\": \"get_weather\", \"parameters\": {\"c", "get_weather({\"c)", "length");
  }

  @Test
  void whereNotEvenTheNameIsWholeTheTextIsGiven() {
    expect("<tool_call>\n{\"name\": \"get_we", "text:<tool_call>\n{\"name\": \"get_we", "length");
    expect("<tool_ca", "text:<tool_ca", "length");
  }

  @Test
  void whatOnlyLooksLikeACallIsText() {
    for (String text :
        List.of(
            "{\"name\": \"Anna\", \"age\": 3}",
            "{\"city\": \"Paris\"}",
            "[1, 2] and {3}",
            "a < b <tool",
            "Use `<tool_call>` like this: `<tool_call>{\"name\":\"get_weather\"}</tool_call>`.",
            "```\n<tool_call>\n{\"name\":\"get_weather\",\"arguments\":{}}\n</tool_call>\n```",
            "Say {\"name\": \"get_weather\", \"parameters\": {}} to call it.",
            "<tool_call>no call</tool_call> and so on")) {
      expect(text, "text:" + text, "stop");
    }
  }

  @Test
  void spaceOfAnAnswerWithoutCallsStays() {
    expect("\n a \n\n b\n", "text:\n a \n\n b\n", "stop");
  }

  private static void expect(String said, String... shaped) {
    String reason = shaped[shaped.length - 1];
    Offered offered =
        new Offered(
            Said.by(Dialect.VLLM, Reasoning.REASONING, ",\"tools\":" + Said.WEATHER)
                .form()
                .asked());
    assertThat(Stages.through(new ToolCallProse(offered), Stages.whole(said, reason)))
        .as(said)
        .containsExactly(shaped);
    assertThat(Stages.through(new ToolCallProse(offered), Stages.characters(said, reason)))
        .as(said)
        .containsExactly(shaped);
  }
}
