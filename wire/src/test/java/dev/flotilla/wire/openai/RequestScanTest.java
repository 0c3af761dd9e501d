package dev.flotilla.wire.openai;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.wire.openai.RequestScan.Endpoint;
import dev.flotilla.wire.openai.RequestScan.Refused;
import dev.flotilla.wire.openai.RequestScan.Scanned;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Requests as clients write them, and each bad one with what its client is told. */
class RequestScanTest {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final String MESSAGES = "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]";

  @Test
  void aChatIsUnderstood() {
    Scanned scanned =
        scanned(
            "{\"model\":\"smollm2\","
                + MESSAGES
                + ",\"stream\":true,\"stream_options\":{\"include_usage\":true},\"n\":2,\"max_tokens\":10,"
                + "\"max_completion_tokens\":20,\"tools\":[{}],\"unknown\":{\"model\":[1]}}");
    assertThat(scanned.model()).isEqualTo("smollm2");
    assertThat(scanned.stream()).isTrue();
    assertThat(scanned.includeUsage()).isTrue();
    assertThat(scanned.n()).isEqualTo(2);
    assertThat(scanned.maxTokens()).isEqualTo(OptionalLong.of(20));
    assertThat(scanned.messages()).isEqualTo(1);
    assertThat(scanned.tools()).isTrue();
    assertThat(scanned.toolsBytes()).isEqualTo(4);
    assertThat(scanned.contentBytes()).isEqualTo(MESSAGES.length() - "\"messages\":".length());
  }

  @Test
  void whatIsNotSaidHasItsDefault() {
    Scanned scanned =
        scanned(
            "{\"model\":\"m\","
                + MESSAGES
                + ",\"stream\":null,\"n\":null,\"max_tokens\":-1,\"tools\":[],\"stream_options\":null}");
    assertThat(scanned.stream()).isFalse();
    assertThat(scanned.includeUsage()).isFalse();
    assertThat(scanned.n()).isEqualTo(1);
    assertThat(scanned.maxTokens()).isEmpty();
    assertThat(scanned.tools()).isFalse();
  }

  @Test
  void otherEndpointsNeedTheirOwnField() {
    assertThat(
            RequestScan.scan(Endpoint.COMPLETIONS, bytes("{\"model\":\"m\",\"prompt\":\"Once\"}")))
        .isInstanceOf(Scanned.class);
    assertThat(RequestScan.scan(Endpoint.EMBEDDINGS, bytes("{\"model\":\"m\",\"input\":[\"a\"]}")))
        .isInstanceOf(Scanned.class);
    assertThat(refused(Endpoint.COMPLETIONS, "{\"model\":\"m\"," + MESSAGES + "}").param())
        .isEqualTo("prompt");
    assertThat(refused(Endpoint.EMBEDDINGS, "{\"model\":\"m\",\"input\":null}").param())
        .isEqualTo("input");
    assertThat(refused(Endpoint.EMBEDDINGS, "{\"model\":\"m\",\"input\":7}").message())
        .isEqualTo("\"input\" must be a string or a list");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "`` | invalid_json | `` | the body is empty; it must be one JSON object",
        "`  ` | invalid_json | `` | the body is empty; it must be one JSON object",
        "hello | invalid_json | `` | the body must be one JSON object",
        "[1] | invalid_json | `` | the body must be one JSON object",
        "{\"model\":\"m\" | invalid_json | `` | the body is not valid JSON at byte 12",
        "{\"model\":\"m\"} x | invalid_json | `` | the body is not valid JSON at byte 14",
        "{\"model\":\"m\"} {} | invalid_json | `` | the body must be one JSON object and nothing after it",
        "{\"model\":\"m\",\"model\":\"n\"} | duplicate_field | model | the body has the field \"model\" twice; each may be there once",
        "{\"model\":\"m\",\"mod\\u0065l\":\"n\"} | duplicate_field | model | the body has the field \"model\" twice; each may be there once",
        "{\"x\":1,\"x\":1} | duplicate_field | x | the body has the field \"x\" twice; each may be there once",
        "{} | missing_required_parameter | model | the body has no \"model\": the name of a model; GET /v1/models lists them",
        "{\"model\":null} | missing_required_parameter | model | the body has no \"model\": the name of a model; GET /v1/models lists them",
        "{\"model\":1} | invalid_type | model | \"model\" must be a string",
        "{\"model\":\"\"} | invalid_value | model | \"model\" has 0 characters; 1 to 256 are allowed",
        "{\"model\":\"a\\u0000b\"} | invalid_value | model | \"model\" holds a control character or half a character",
        "{\"model\":\"\\ud800\"} | invalid_value | model | \"model\" holds a control character or half a character",
        "{\"model\":\"m\"} | missing_required_parameter | messages | the body has no \"messages\": what the model is to answer to",
        "{\"messages\":null} | missing_required_parameter | messages | the body has no \"messages\": a list of messages",
        "{\"messages\":\"hi\"} | invalid_type | messages | \"messages\" must be a list of messages",
        "{\"messages\":[]} | invalid_value | messages | \"messages\" is empty; it needs at least one message",
        "{\"messages\":[{\"role\":\"user\"},\"hi\"]} | invalid_type | messages[1] | \"messages[1]\" must be an object with role and content",
        "{\"messages\":[null]} | invalid_type | messages[0] | \"messages[0]\" must be an object with role and content",
        "{\"messages\":[{\"role\":\"user\"},{\"content\":\"hi\"}]} | missing_required_parameter | messages[1].role | \"messages[1]\" has no \"role\", such as \"user\"",
        "{\"messages\":[{\"role\":3,\"content\":\"hi\"}]} | invalid_type | messages[0].role | \"messages[0].role\" must be a string, such as \"user\"",
        "{\"tools\":\"x\"} | invalid_type | tools | \"tools\" must be a list of tools",
        "{\"tools\":{}} | invalid_type | tools | \"tools\" must be a list of tools",
        "{\"tools\":[{},\"x\"]} | invalid_type | tools[1] | \"tools[1]\" must be an object",
        "{\"stop\":3} | invalid_type | stop | \"stop\" must be a string or a list of strings",
        "{\"stop\":[\"a\",3]} | invalid_type | stop[1] | \"stop[1]\" must be a string",
        "{\"temperature\":\"hot\"} | invalid_type | temperature | \"temperature\" must be a number",
        "{\"top_p\":[]} | invalid_type | top_p | \"top_p\" must be a number",
        "{\"seed\":\"x\"} | invalid_type | seed | \"seed\" must be a number",
        "{\"response_format\":\"json\"} | invalid_type | response_format | \"response_format\" must be an object",
        "{\"tool_choice\":3} | invalid_type | tool_choice | \"tool_choice\" must be a string or an object",
        "{\"parallel_tool_calls\":\"no\"} | invalid_type | parallel_tool_calls | \"parallel_tool_calls\" must be true or false",
        "{\"stream\":\"yes\"} | invalid_type | stream | \"stream\" must be true or false",
        "{\"stream_options\":true} | invalid_type | stream_options | \"stream_options\" must be an object",
        "{\"stream_options\":{\"include_usage\":1}} | invalid_type | stream_options.include_usage | \"stream_options.include_usage\" must be true or false",
        "{\"stream_options\":{\"include_usage\":true,\"include_usage\":false}} | duplicate_field | stream_options.include_usage | \"stream_options\" has the field \"include_usage\" twice",
        "{\"n\":0} | invalid_value | n | \"n\" must be from 1 to 8",
        "{\"n\":9} | invalid_value | n | \"n\" must be from 1 to 8",
        "{\"n\":1000000} | invalid_value | n | \"n\" must be from 1 to 8",
        "{\"n\":99999999999999999999999} | invalid_value | n | \"n\" must be from 1 to 8",
        "{\"n\":1.5} | invalid_type | n | \"n\" must be an integer",
        "{\"n\":\"1\"} | invalid_type | n | \"n\" must be an integer",
        "{\"max_tokens\":-2} | invalid_value | max_tokens | \"max_tokens\" must be from -1 to 2147483647",
        "{\"max_completion_tokens\":[]} | invalid_type | max_completion_tokens | \"max_completion_tokens\" must be an integer",
      })
  void aBadBodyNamesWhatIsWrong(String body, String code, String param, String message) {
    ApiError error = refused(Endpoint.CHAT, body);
    assertThat(error.status()).isEqualTo(400);
    assertThat(error.type()).isEqualTo("invalid_request_error");
    assertThat(error.code()).isEqualTo(code);
    assertThat(error.param()).isEqualTo(param.isEmpty() ? null : param);
    assertThat(error.message()).isEqualTo(message);
  }

  @Test
  void nullIsTheSameAsNothingAndWhatHasNoTypeOfOpenAiPasses() {
    assertThat(
            RequestScan.scan(
                Endpoint.CHAT,
                bytes(
                    "{\"model\":\"m\",\"tools\":null,\"stop\":null,\"temperature\":null,\"seed\":null,"
                        + "\"response_format\":null,\"tool_choice\":null,\"stream\":null,"
                        + "\"top_p\":1,\"stop_sequences\":7,\"logit_bias\":[[1,2]],"
                        + MESSAGES
                        + "}")))
        .isInstanceOf(Scanned.class);
    assertThat(
            RequestScan.scan(
                Endpoint.CHAT,
                bytes(
                    "{\"stop\":[\"a\",\"b\"],\"tools\":[],\"tool_choice\":{\"type\":\"function\"},"
                        + "\"response_format\":{\"type\":\"text\",\"a\":[{}]},\"model\":\"m\","
                        + MESSAGES
                        + ",\"stop_token\":[]}")))
        .isInstanceOfSatisfying(Scanned.class, scanned -> assertThat(scanned.tools()).isFalse());
  }

  @Test
  void hostileBodiesAreRefusedBriefly() {
    String deep =
        "{\"model\":\"m\",\"x\":" + "[".repeat(100) + "]".repeat(100) + "," + MESSAGES + "}";
    assertThat(refused(Endpoint.CHAT, deep).message()).contains("deeper than 100 levels");
    String bottomless = "{\"x\":" + "[".repeat(1_000_000);
    assertThat(refused(Endpoint.CHAT, bottomless).message()).contains("deeper than 100 levels");
    String longModel = "{\"model\":\"" + "m".repeat(10_000) + "\"}";
    assertThat(refused(Endpoint.CHAT, longModel).message())
        .isEqualTo("\"model\" has 10000 characters; 1 to 256 are allowed");
    String name = "x".repeat(10_000);
    ApiError twice = refused(Endpoint.CHAT, "{\"" + name + "\":1,\"" + name + "\":1}");
    assertThat(twice.message()).hasSizeLessThan(200);
    assertThat(twice.param()).isNull();
    StringBuilder fields = new StringBuilder("{\"model\":\"m\"");
    for (int i = 0; i < 300; i++) {
      fields.append(",\"f").append(i).append("\":1");
    }
    assertThat(refused(Endpoint.CHAT, fields + "}").message()).contains("256 top-level fields");
    assertThat(refused(Endpoint.CHAT, "{\"n\":" + "9".repeat(100_000) + "}").message())
        .contains("a number longer than 1000");
  }

  @Test
  void onlyUtf8IsRead() {
    String body = "{\"model\":\"é\"," + MESSAGES + "}";
    assertThat(RequestScan.scan(Endpoint.CHAT, body.getBytes(UTF_8))).isInstanceOf(Scanned.class);
    for (byte[] other :
        List.of(
            body.getBytes(ISO_8859_1),
            body.getBytes(UTF_16),
            body.getBytes(UTF_16LE),
            ("\uFEFF" + body).getBytes(UTF_8))) {
      assertThat(RequestScan.scan(Endpoint.CHAT, other)).isInstanceOf(Refused.class);
    }
  }

  @Test
  void eachFieldIsFoundWhereItLies() {
    String body =
        " { \"a\" : 1.50,\n\"model\":\"pub\\u006cic\" ,\"é\":\"\\\"model\\\":\",\"n\":null,\"t\":true,"
            + MESSAGES
            + ", \"x\":[{\"y\":-2e3}] }";
    Scanned scanned = scanned(body);
    assertThat(scanned.fields())
        .map(field -> text(scanned, field.keyFrom(), field.valueTo()))
        .containsExactly(
            "\"a\" : 1.50",
            "\"model\":\"pub\\u006cic\"",
            "\"é\":\"\\\"model\\\":\"",
            "\"n\":null",
            "\"t\":true",
            MESSAGES,
            "\"x\":[{\"y\":-2e3}]");
    assertThat(scanned.fields())
        .map(field -> text(scanned, field.valueFrom(), field.valueTo()))
        .startsWith("1.50", "\"pub\\u006cic\"")
        .endsWith("[{\"y\":-2e3}]");
    assertThat(scanned.fields()).filteredOn(RequestScan.Field::isNull).hasSize(1);
  }

  @Test
  void theMessagesSayWhoSpeaksLastAndWhetherThereIsMoreThanText() {
    Scanned told =
        scanned(
            "{\"model\":\"m\",\"messages\":[{\"role\":\"developer\",\"content\":\"x\"},"
                + "{\"role\" : \"developer\"},{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"\"}]}]}");
    assertThat(told.developerRoles())
        .hasSize(2)
        .allSatisfy(
            span -> assertThat(text(told, span.from(), span.to())).isEqualTo("\"developer\""));
    assertThat(told.prefilled()).isFalse();
    assertThat(told.media()).isFalse();

    Scanned begun =
        scanned(
            "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image\\u005furl\"}]},"
                + "{\"role\":\"assistant\",\"content\":\"x\",\"tool_calls\":null}]}");
    assertThat(begun.prefilled()).isTrue();
    assertThat(begun.media()).isTrue();

    Scanned called =
        scanned(
            "{\"model\":\"m\",\"messages\":[{\"role\":\"assistant\",\"content\":\"x\",\"tool_calls\":[]}]}");
    assertThat(called.prefilled()).isFalse();
  }

  private static String text(Scanned scanned, int from, int to) {
    return new String(scanned.body(), from, to - from, UTF_8);
  }

  @Test
  void mutatedBodiesAreScannedOrRefusedAndNothingElse() {
    Random random = new Random(3);
    byte[] seed =
        bytes(
            "{\"model\":\"m\","
                + MESSAGES
                + ",\"stream\":true,\"stream_options\":{\"include_usage\":false},\"n\":1,\"x\":[1.5e3,\"é\"]}");
    int scanned = 0;
    for (int i = 0; i < 30_000; i++) {
      byte[] body = seed.clone();
      for (int j = random.nextInt(3); j >= 0; j--) {
        byte any = (byte) random.nextInt(256);
        byte[] marks = bytes("{}[]\",:\\ 019-e");
        body[random.nextInt(body.length)] =
            random.nextBoolean() ? any : marks[random.nextInt(marks.length)];
      }
      if (RequestScan.scan(Endpoint.CHAT, body) instanceof Scanned result) {
        scanned++;
        JsonNode tree = JSON.readTree(body);
        assertThat(result.fields()).hasSize(tree.size());
        for (RequestScan.Field field : result.fields()) {
          int length = field.valueTo() - field.valueFrom();
          assertThat(JSON.readTree(body, field.valueFrom(), length))
              .isEqualTo(tree.get(field.name()));
        }
      }
    }
    assertThat(scanned).isGreaterThan(1000);
  }

  private static Scanned scanned(String body) {
    RequestScan scan = RequestScan.scan(Endpoint.CHAT, bytes(body));
    assertThat(scan).as(body).isInstanceOf(Scanned.class);
    return (Scanned) scan;
  }

  private static ApiError refused(Endpoint endpoint, String body) {
    RequestScan scan = RequestScan.scan(endpoint, bytes(body));
    assertThat(scan).as(body).isInstanceOf(Refused.class);
    return ((Refused) scan).error();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }
}
