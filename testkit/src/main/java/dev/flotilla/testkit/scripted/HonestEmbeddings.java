package dev.flotilla.testkit.scripted;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Answers {@code /v1/embeddings} as OpenAI's API has it. A text's vector is made of its words, of
 * length 1; two texts that share words have vectors that are near to one another. Its vectors have
 * one length, as those of most models, so another is refused.
 */
final class HonestEmbeddings {
  private static final int NUMBERS = 48;
  private static final Pattern BETWEEN_WORDS = Pattern.compile("\\W+");

  private final ScriptedEngine engine;

  HonestEmbeddings(ScriptedEngine engine) {
    this.engine = engine;
  }

  PlannedReply to(JsonNode request) {
    if (!request.isObject()) {
      return HonestAnswers.refusal(400, "invalid_json", "the body is not valid JSON");
    }
    JsonNode input = request.path("input");
    List<JsonNode> inputs = new ArrayList<>();
    if (input.isArray() && !input.path(0).isNumber()) {
      input.forEach(inputs::add);
    } else if (input.isString() || input.isArray()) {
      inputs.add(input);
    }
    if (inputs.isEmpty() || inputs.stream().anyMatch(HonestEmbeddings::isEmpty)) {
      return HonestAnswers.refusal(400, "invalid_value", "there is nothing to make a vector of");
    }
    String format = request.path("encoding_format").asString("float");
    if (!List.of("float", "base64").contains(format)) {
      return HonestAnswers.refusal(400, "invalid_value", "there is no such encoding_format");
    }
    if (request.hasNonNull("dimensions") && request.path("dimensions").asInt(0) != NUMBERS) {
      return HonestAnswers.refusal(400, "unsupported", "a vector has " + NUMBERS + " numbers");
    }
    int tokens = 0;
    for (JsonNode each : inputs) {
      int own = tokens(each);
      if (own > engine.contextTokens()) {
        return HonestAnswers.refusal(
            400, "context_length_exceeded", "the text is longer than the context");
      }
      tokens += own;
    }
    PlannedReply reply = new PlannedReply(false);
    ObjectNode body = ReceivedRequest.JSON.createObjectNode().put("object", "list");
    body.put("model", request.path("model").asString(engine.model()));
    ArrayNode data = body.putArray("data");
    for (JsonNode each : inputs) {
      ObjectNode item = data.addObject().put("object", "embedding").put("index", data.size() - 1);
      double[] vector = vector(each);
      if (format.equals("base64")) {
        item.put("embedding", base64(vector, ByteOrder.LITTLE_ENDIAN));
      } else {
        ArrayNode numbers = item.putArray("embedding");
        for (double number : vector) {
          numbers.add(number);
        }
      }
    }
    body.putObject("usage").put("prompt_tokens", tokens).put("total_tokens", tokens);
    reply.objects.add(body);
    return reply;
  }

  private static boolean isEmpty(JsonNode input) {
    return input.isString() ? input.stringValue().isEmpty() : !input.isArray() || input.isEmpty();
  }

  private int tokens(JsonNode input) {
    return input.isArray()
        ? input.size()
        : engine.promptTokens(ReceivedRequest.JSON.createObjectNode().set("input", input));
  }

  private static double[] vector(JsonNode input) {
    double[] sum = new double[NUMBERS];
    String text = input.isString() ? input.stringValue() : input.toString();
    for (String word : BETWEEN_WORDS.splitAsStream(text).toList()) {
      Random random = new Random(word.hashCode());
      for (int i = 0; i < NUMBERS; i++) {
        sum[i] += random.nextGaussian();
      }
    }
    double square = 0;
    for (double each : sum) {
      square += each * each;
    }
    for (int i = 0; i < NUMBERS; i++) {
      sum[i] /= Math.sqrt(square);
    }
    return sum;
  }

  static String base64(double[] vector, ByteOrder order) {
    ByteBuffer bytes = ByteBuffer.allocate(vector.length * Float.BYTES).order(order);
    for (double each : vector) {
      bytes.putFloat((float) each);
    }
    return Base64.getEncoder().encodeToString(bytes.array());
  }
}
