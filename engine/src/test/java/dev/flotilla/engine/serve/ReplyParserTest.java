package dev.flotilla.engine.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An answer's parts are the same however it is cut, and calls are told while they are written. */
class ReplyParserTest {
  /** An answer put together: thoughts, content, and each call as {@code name(arguments)}. */
  private static String told(List<Part> parts) {
    StringBuilder told = new StringBuilder();
    int open = -1;
    for (Part part : parts) {
      switch (part) {
        case Part.Thought thought -> told.append(thought.text());
        case Part.Content content -> told.append(close(open)).append(content.text());
        case Part.Call call -> {
          assertThat(call.index()).isEqualTo(call(told.toString()));
          told.append(close(open)).append('@').append(call.name()).append('(');
        }
        case Part.Arguments more -> told.append(more.text());
      }
      open =
          part instanceof Part.Call call ? call.index() : part instanceof Part.Content ? -1 : open;
    }
    return told + close(open);
  }

  private static String close(int open) {
    return open < 0 ? "" : ")";
  }

  private static int call(String told) {
    return (int) told.chars().filter(c -> c == '@').count();
  }

  private static List<Part> parts(CallFormat format, boolean oneCall, List<String> pieces) {
    ReplyParser parser =
        new ReplyParser(true, false, Optional.of(format), oneCall, false, () -> "id");
    List<Part> parts = new ArrayList<>();
    for (String piece : pieces) {
      parts.addAll(parser.add(piece));
    }
    parts.addAll(parser.end());
    return parts;
  }

  private static List<String> letters(String answer) {
    return answer.codePoints().mapToObj(Character::toString).toList();
  }

  private static List<String> cut(String answer, Random random) {
    List<String> pieces = new ArrayList<>();
    int from = 0;
    while (from < answer.length()) {
      int to = Math.min(answer.length(), from + 1 + random.nextInt(9));
      pieces.add(answer.substring(from, to));
      from = to;
    }
    return pieces;
  }

  private static String told(CallFormat format, String answer) {
    String whole = told(parts(format, false, List.of(answer)));
    assertThat(told(parts(format, false, letters(answer)))).as("letter by letter").isEqualTo(whole);
    Random random = new Random(1);
    for (int i = 0; i < 30; i++) {
      List<String> pieces = cut(answer, random);
      assertThat(told(parts(format, false, pieces))).as("as %s", pieces).isEqualTo(whole);
    }
    return whole;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        // Hermes and Qwen
        "HERMES ~ <tool_call>\\n{\"name\": \"f\", \"arguments\": {\"a\": [1, \"b c\"]}}\\n</tool_call> ~ @f({\"a\":[1,\"b c\"]})",
        "HERMES ~ Yes.\\n<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>\\n<tool_call>{\"name\":\"g\"}</tool_call>\\n ~ Yes.@f({})@g({})",
        "HERMES ~ <tool_call>{\"arguments\":{\"x\":1.50},\"name\":\"f\"}</tool_call> then ~ @f({\"x\":1.50})then",
        "HERMES ~ <tool_call>{\"name\":\"f\",\"arguments\":\"{\\\\\"x\\\\\": 1}\"}</tool_call> ~ @f({\"x\":1})",
        "HERMES ~ <tool_call>{\"name\":\"f\",\"arguments\":null,\"id\":7}</tool_call> ~ @f({})",
        "HERMES ~ <tool_call>{\"name\":\"f\",\"arguments\":{\"x\":\"</tool_call>\"}}</tool_call> ~ @f({\"x\":\"</tool_call>\"})",
        "HERMES ~ <tool_call>\\n<function=f>\\n<parameter=a>\\n1\\n</parameter>\\n<parameter=b>\\nx > y\\n</parameter>\\n</function>\\n</tool_call> ~ @f({\"a\":1,\"b\":\"x > y\"})",
        "HERMES ~ <tool_call><function=f></function></tool_call> ~ @f({})",
        "HERMES ~ <tool_call>{\"name\":\"f\",\"arguments\":{\"x\":1}</tool_call> ~ @f({\"x\":1})",
        "HERMES ~ <tool_call>{\"name\":\"f\",\"arguments\":{\"x\":tru}}</tool_call> So ~ @f({\"x\":tru}})So",
        "HERMES ~ <tool_call>nothing</tool_call> of it ~ <tool_call>nothing</tool_call> of it",
        "HERMES ~ <tool_call>{\"title\":\"f\"}</tool_call> ~ <tool_call>{\"title\":\"f\"}</tool_call>",
        "HERMES ~ <tool_call>{\"name\":\"f\",\"arguments\":[1]}</tool_call> ~ <tool_call>{\"name\":\"f\",\"arguments\":[1]}</tool_call>",
        "HERMES ~ <tool_call>{\"name\":\"f\",\"arguments\":{\"x\":[1, ~ @f({\"x\":[1,)",
        "HERMES ~ <tool_call>{\"name\":\"f\" ~ <tool_call>{\"name\":\"f\"",
        "HERMES ~ 1 < 2 <tool ~ 1 < 2 <tool",
        // Llama 3
        "LLAMA ~ {\"name\": \"f\", \"parameters\": {\"x\": \"y\"}} ~ @f({\"x\":\"y\"})",
        "LLAMA ~ <|python_tag|>{\"name\": \"f\", \"parameters\": {}}; {\"name\": \"g\", \"parameters\": {\"x\": -1e5}} ~ @f({})@g({\"x\":-1e5})",
        "LLAMA ~ {\"city\": \"Rome\", \"n\": 2} ~ {\"city\": \"Rome\", \"n\": 2}",
        "LLAMA ~ {\"name\": \"f\", \"parameters\": {}} and so on ~ @f({})and so on",
        "LLAMA ~ So: {\"name\": \"f\", \"parameters\": {}} ~ So: {\"name\": \"f\", \"parameters\": {}}",
        "LLAMA ~ <|python_tag|>f.call(x=1) ~ <|python_tag|>f.call(x=1)",
        // Mistral
        "MISTRAL ~ [TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"x\": 1}}, {\"name\": \"g\", \"arguments\": {}}] ~ @f({\"x\":1})@g({})",
        "MISTRAL ~ [TOOL_CALLS]f[ARGS]{\"x\": {\"y\": \"z\"}}[TOOL_CALLS]g[CALL_ID]123[ARGS]{} ~ @f({\"x\":{\"y\":\"z\"}})@g({})",
        "MISTRAL ~ [TOOL_CALLS]{\"name\": \"f\", \"arguments\": {\"x\": 1}} ~ @f({\"x\":1})",
        "MISTRAL ~ [TOOL_CALLS][] ~ [TOOL_CALLS][]",
        "MISTRAL ~ [TOOL_CALLS]f[ARGS]none ~ [TOOL_CALLS]f[ARGS]none",
        // Gemma
        "GEMMA ~ <start_function_call>call:f{a:<escape>x \"y\"<escape>,b:1.5,c:true}<end_function_call> ~ @f({\"a\":\"x \\\\\"y\\\\\"\",\"b\":1.5,\"c\":true})",
        "GEMMA ~ <start_function_call>call:f{l:[1,<escape>a,b<escape>],o:{k:null}}<end_function_call>\\n<start_function_call>call:g{}<end_function_call> ~ @f({\"l\":[1,\"a,b\"],\"o\":{\"k\":null}})@g({})",
        "GEMMA ~ <start_function_call>call:f{a:<escape>1 < 2 <esc<escape>,b:two words}<end_function_call> ~ @f({\"a\":\"1 < 2 <esc\",\"b\":\"two words\"})",
        "GEMMA ~ <start_function_call>no<end_function_call> ~ <start_function_call>no<end_function_call>",
      })
  void callsAreFoundHoweverTheAnswerIsCut(CallFormat format, String answer, String parts) {
    assertThat(told(format, answer.replace("\\n", "\n").replace("\\\\", "\\")))
        .isEqualTo(parts.replace("\\\\", "\\"));
  }

  /** First the name, then the arguments, in many pieces: nobody waits for the end of the call. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        "HERMES ~ <tool_call>{\"name\":\"f\",\"arguments\":{\"text\":\"once upon a time",
        "LLAMA ~ {\"name\":\"f\",\"parameters\":{\"text\":\"once upon a time",
        "MISTRAL ~ [TOOL_CALLS][{\"name\":\"f\",\"arguments\":{\"text\":\"once upon a time",
        "MISTRAL ~ [TOOL_CALLS]f[ARGS]{\"text\":\"once upon a time",
        "GEMMA ~ <start_function_call>call:f{text:<escape>once upon a time",
      })
  void aCallIsToldWhileItIsWritten(CallFormat format, String written) {
    ReplyParser parser =
        new ReplyParser(true, false, Optional.of(format), false, false, () -> "id");
    List<Part> parts = new ArrayList<>();
    letters(written).forEach(letter -> parts.addAll(parser.add(letter)));
    assertThat(parts.getFirst()).isEqualTo(new Part.Call(0, "id", "f"));
    assertThat(parts.subList(1, parts.size()))
        .hasSizeGreaterThan(15)
        .allMatch(part -> part instanceof Part.Arguments more && more.index() == 0);
    assertThat(told(parts)).isEqualTo("@f({\"text\":\"once upon a time)");
  }

  @Test
  void whereOneCallIsWantedTheAnswerEndsWithIt() {
    String two =
        "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>"
            + "<tool_call>{\"name\":\"g\",\"arguments\":{}}</tool_call> and more";
    for (List<String> pieces : List.of(List.of(two), letters(two))) {
      assertThat(told(parts(CallFormat.HERMES, true, pieces))).isEqualTo("@f({})");
    }
    ReplyParser parser =
        new ReplyParser(true, false, Optional.of(CallFormat.HERMES), true, false, () -> "id");
    parser.add("<tool_call>{\"name\":\"f\",\"arguments\":{}");
    assertThat(parser.over()).isFalse();
    parser.add("}");
    assertThat(parser.over()).isTrue();
  }

  @Test
  void thoughtsComeBeforeCalls() {
    assertThat(
            told(CallFormat.HERMES, "<think>Hm {</think>\n<tool_call>{\"name\":\"f\"}</tool_call>"))
        .isEqualTo("Hm {@f({})");
  }
}
