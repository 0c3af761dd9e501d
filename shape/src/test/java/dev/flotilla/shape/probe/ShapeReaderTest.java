package dev.flotilla.shape.probe;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What a shape keeps of a reply, and that there is one whatever was sent. */
class ShapeReaderTest {
  private static final ProbeTarget TARGET = new ProbeTarget("m", 512);
  private static final String HEAD =
      "{\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"choices\":";

  @Test
  void valuesAreTakenOutAndTheApisOwnWordsStay() {
    Shape shape =
        whole(
            """
            {"id":"chatcmpl-1","object":"chat.completion","created":5,"model":"m","choices":[
            {"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"length"}],
            "usage":{"prompt_tokens":3,"completion_tokens":6,"total_tokens":9}}\
            """);

    assertThat(shape.facts())
        .containsEntry("status", "200")
        .containsEntry("body", "one JSON object")
        .containsEntry("answer", "text")
        .containsEntry("usage sum", "adds up")
        .containsEntry("id", "string")
        .containsEntry("object", "\"chat.completion\"")
        .containsEntry("model", "as asked")
        .containsEntry("choices", "list of 1")
        .containsEntry("choices[].message.content", "string")
        .containsEntry("choices[].finish_reason", "\"length\"");
  }

  @Test
  void twoTextsOfOneFormHaveOneShape() {
    String other =
        "{\"object\":\"chat.completion\",\"choices\":[{\"message\":{\"content\":\"%s\"}}]}";

    assertThat(whole(other.formatted("Hi"))).isEqualTo(whole(other.formatted("Good morning, all")));
  }

  @Test
  void elementsOfAListShareAPlaceAndOneThatLacksAFieldIsSeen() {
    Shape shape =
        whole("{\"choices\":[{\"index\":0,\"a\":1},{\"index\":1,\"a\":null},{\"index\":2}]}");

    assertThat(shape.seen("choices[].a")).isEqualTo("absent or integer or null");
    assertThat(shape.seen("choices[].index")).isEqualTo("0 or 1 or 2");
  }

  @Test
  void aStreamsOrderIsToldWithRunsFolded() {
    assertThat(
            stream(
                delta("{\"role\":\"assistant\",\"content\":\"\"}"),
                delta("{\"reasoning_content\":\"so\"}"),
                delta("{\"reasoning_content\":\" so\"}"),
                delta("{\"content\":\"a\"}"),
                delta("{\"content\":\"\"}"),
                delta("{\"content\":\"b\"}"),
                HEAD + "[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}",
                "{\"id\":\"1\",\"choices\":[],\"usage\":{\"prompt_tokens\":1}}",
                "[DONE]"))
        .extracting(shape -> shape.seen("order"))
        .isEqualTo("role reasoning_content… content… finish usage [DONE]");
  }

  @Test
  void howManyPiecesATextHasIsNoPartOfTheShape() {
    String role = delta("{\"role\":\"assistant\"}");
    String piece = delta("{\"content\":\"a\"}");

    assertThat(stream(role, piece, "[DONE]"))
        .isEqualTo(stream(role, piece, piece, piece, "[DONE]"));
  }

  @Test
  void answersOfOneStreamHaveAnOrderEach() {
    Shape shape =
        stream(
            Probes.named("n-streamed").orElseThrow(),
            choice(1, "{\"role\":\"assistant\"}"),
            choice(0, "{\"role\":\"assistant\"}"),
            choice(0, "{\"content\":\"a\"}"),
            choice(1, "{\"content\":\"b\"}"),
            "[DONE]");

    assertThat(shape.seen("order")).isEqualTo("choices… [DONE]");
    assertThat(shape.seen("order of answer 0")).isEqualTo("role content…");
    assertThat(shape.seen("order of answer 1")).isEqualTo("role content…");
  }

  @Test
  void whatIsNoReplyOfTheApiIsSaid() {
    assertThat(whole("").seen("body")).isEqualTo("empty");
    assertThat(whole("<!DOCTYPE html><html></html>").seen("body")).isEqualTo("a page of HTML");
    assertThat(whole("{\"a\":").seen("body")).isEqualTo("JSON that breaks off");
    assertThat(whole("{\"a\":1,\"a\":2}").seen("body")).isEqualTo("JSON with a field twice");
    assertThat(whole("[1]").seen("body")).isEqualTo("JSON, but no object");
    assertThat(whole("hello").seen("body")).isEqualTo("no JSON");
    assertThat(whole("[".repeat(500)).seen("body")).startsWith("JSON nested too deep");
    assertThat(whole("{\"a\":" + "[".repeat(50) + "]".repeat(50) + "}").toString())
        .contains("deeper than 12 levels");
  }

  @Test
  void aReplyThatBrokeOffIsCut() {
    ProbeReply reply =
        new ProbeReply(200, "application/json", new byte[0], Optional.of("it took too long"));

    assertThat(read(reply, plain()).seen("body")).isEqualTo("cut: it took too long");
  }

  @Test
  void namesThatAServerInventsAreFewShortAndPrintable() {
    StringBuilder json = new StringBuilder("{");
    for (int i = 0; i < 5_000; i++) {
      json.append("\"\\u001b[31m").append(i).append("x".repeat(100)).append("\":1,");
    }
    Shape shape = whole(json + "\"z\":1}");

    assertThat(shape.facts()).hasSizeLessThan(500);
    assertThat(shape.seen("fields")).isEqualTo("more than 400");
    assertThat(shape.toString()).doesNotContain("\u001b").hasSizeLessThan(100_000);
  }

  @Test
  void aStreamOfManyEventsIsReadToTheLimit() {
    String event = "data: " + delta("{\"content\":\"a\"}") + "\n\n";

    assertThat(read(reply("text/event-stream", event.repeat(5_000)), streamed()).seen("body"))
        .isEqualTo("more than 4096 events");
  }

  @Test
  void anyBytesGiveAShape() {
    Random random = new Random(7);
    String good =
        "data: "
            + delta("{\"role\":\"assistant\",\"tool_calls\":[{\"index\":0}]}")
            + "\n\ndata: [DONE]\n\n";
    for (int round = 0; round < 2_000; round++) {
      byte[] bytes = good.getBytes(UTF_8);
      for (int change = 0; change < 1 + round % 9; change++) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
      }
      for (Probe probe : new Probe[] {plain(), streamed()}) {
        Shape shape =
            read(new ProbeReply(200, "text/event-stream", bytes, Optional.empty()), probe);

        assertThat(shape.facts()).containsKeys("status", "content-type", "body");
      }
    }
  }

  private static Probe plain() {
    return Probes.named("plain").orElseThrow();
  }

  private static Probe streamed() {
    return Probes.named("streamed").orElseThrow();
  }

  private static String delta(String delta) {
    return choice(0, delta);
  }

  private static String choice(int index, String delta) {
    return HEAD + "[{\"index\":" + index + ",\"delta\":" + delta + ",\"finish_reason\":null}]}";
  }

  private static Shape whole(String body) {
    return read(reply("application/json; charset=utf-8", body), plain());
  }

  private static Shape stream(String... events) {
    return stream(streamed(), events);
  }

  private static Shape stream(Probe probe, String... events) {
    StringBuilder body = new StringBuilder(": keep-alive\n\n");
    for (String event : events) {
      body.append("data: ").append(event).append("\n\n");
    }
    return read(reply("text/event-stream", body.toString()), probe);
  }

  private static ProbeReply reply(String type, String body) {
    return new ProbeReply(200, type, body.getBytes(UTF_8), Optional.empty());
  }

  private static Shape read(ProbeReply reply, Probe probe) {
    return ShapeReader.read(reply, probe, TARGET, ProbeLimits.DEFAULTS);
  }
}
