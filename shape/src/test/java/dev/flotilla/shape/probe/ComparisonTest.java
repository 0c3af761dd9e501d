package dev.flotilla.shape.probe;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What two right servers may differ in, and what not. */
class ComparisonTest {

  @Test
  void aFieldMoreIsADifference() {
    assertThat(
            compare("plain", Map.of("id", "string"), Map.of("id", "string", "timings", "object")))
        .containsExactly(new Difference("timings", "absent", "object"));
  }

  @Test
  void ofAnObjectThatIsMissingItsFieldsAreNotToldToo() {
    assertThat(
            compare(
                "plain",
                Map.of(),
                Map.of("timings", "object", "timings.ms", "number", "timings.a.b", "integer")))
        .containsExactly(new Difference("timings", "absent", "object"));
  }

  @Test
  void ofAnAnswerAndAnErrorTheStatusSaysItAll() {
    assertThat(
            compare(
                "plain",
                ordered("status", "200", "answer", "text"),
                ordered("status", "404", "error", "object")))
        .containsExactly(new Difference("status", "200", "404"));
  }

  @Test
  void whatTheApiLeavesToTheServerMayDiffer() {
    assertThat(
            compare(
                "plain",
                Map.of("system_fingerprint", "string", "choices[].logprobs", "null"),
                Map.of("service_tier", "null", "usage.prompt_tokens_details", "object")))
        .isEmpty();
  }

  @Test
  void aModelThatEndsByItselfIsNoDifferenceWhereItIsFreeTo() {
    Map<String, String> stopped = Map.of("choices[].finish_reason", "\"stop\"");
    Map<String, String> cut = Map.of("choices[].finish_reason", "\"length\"");

    assertThat(compare("developer", stopped, cut)).isEmpty();
    assertThat(compare("plain", stopped, cut))
        .containsExactly(new Difference("choices[].finish_reason", "\"stop\"", "\"length\""));
  }

  @Test
  void aModelThatCallsWhereItMayIsNoDifference() {
    assertThat(
            compare(
                "tools-auto",
                Map.of("answer", "text", "choices[].message.content", "string"),
                Map.of("answer", "calls", "call ids", "one each")))
        .isEmpty();
  }

  @Test
  void markupInTheTextIsADifferenceThoughTheModelMayAnswerOrCall() {
    assertThat(
            compare(
                "tools-auto",
                Map.of("answer", "calls", "markup", "none"),
                Map.of("answer", "text", "markup", "<tool_call>")))
        .containsExactly(new Difference("markup", "none", "<tool_call>"));
  }

  private static List<Difference> compare(
      String probe, Map<String, String> first, Map<String, String> second) {
    return Comparison.differences(
        Probes.named(probe).orElseThrow(), new Shape(first), new Shape(second));
  }

  private static Map<String, String> ordered(String... namesAndForms) {
    Map<String, String> facts = new LinkedHashMap<>();
    for (int i = 0; i < namesAndForms.length; i += 2) {
      facts.put(namesAndForms[i], namesAndForms[i + 1]);
    }
    return facts;
  }
}
