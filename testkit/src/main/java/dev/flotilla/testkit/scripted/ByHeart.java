package dev.flotilla.testkit.scripted;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import java.util.Map;
import java.util.Random;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Completions with the probabilities of their tokens, as llama-server has them, of a model that
 * knows what everybody knows by heart, or of one that knows nothing. A word is a token; a grammar
 * of one literal is obeyed.
 */
final class ByHeart {
  private static final Map<String, String> KNOWN =
      Map.ofEntries(
          Map.entry("7, 8,", "9"),
          Map.entry("F, G,", "H"),
          Map.entry("Thursday,", "Friday"),
          Map.entry("May,", "June"),
          Map.entry("the lazy", "dog"),
          Map.entry("upon a", "time"),
          Map.entry("red blue", "green"),
          Map.entry("left -", "right"),
          Map.entry("return a +", "b"),
          Map.entry("that is the", "question"),
          Map.entry("States of", "America"),
          Map.entry("Romeo and", "Juliet"));

  private static final List<String> SOUP = List.of("zorg", "qip", "umtra", "vex", "ploo", "hask");
  private static final double LIKELY = -0.2;
  private static final double UNHEARD_OF = -14;
  private static final double BEHIND = 3;

  private ByHeart() {}

  /** Whether it asks for a completion in one piece, with probabilities. */
  static boolean isAskedBy(JsonNode request, boolean chat) {
    return !chat
        && request.path("logprobs").isIntegralNumber()
        && !request.path("stream").asBoolean(false);
  }

  /**
   * The reply.
   *
   * @param right whether it is of a model that knows anything
   */
  static PlannedReply told(String model, JsonNode request, int promptTokens, boolean right) {
    String prompt = request.path("prompt").asString("");
    String grammar = request.path("grammar").asString("");
    List<String> words =
        grammar.isEmpty()
            ? List.of(" " + (right ? goOn(prompt) : soup(prompt)))
            : List.of(literal(grammar).split("(?= )"));
    PlannedReply reply = new PlannedReply(false);
    ObjectNode body = ReceivedRequest.JSON.createObjectNode();
    reply.objects.add(body);
    body.put("id", "cmpl-by-heart").put("object", "text_completion").put("created", 1_767_225_600);
    body.put("model", model);
    ObjectNode choice = body.putArray("choices").addObject().put("index", 0);
    choice.put("text", String.join("", words));
    ArrayNode content = choice.putObject("logprobs").putArray("content");
    double likely = right ? LIKELY : UNHEARD_OF;
    for (String word : words) {
      ObjectNode token = option(content.addObject(), word, likely);
      ArrayNode top = token.putArray("top_logprobs");
      option(top.addObject(), word, likely);
      option(top.addObject(), " else", likely - BEHIND);
    }
    choice.put("finish_reason", "length");
    body.putObject("usage")
        .put("prompt_tokens", promptTokens)
        .put("completion_tokens", words.size())
        .put("total_tokens", promptTokens + words.size());
    return reply;
  }

  private static ObjectNode option(ObjectNode token, String word, double logprob) {
    token.put("token", word).put("logprob", logprob);
    ArrayNode bytes = token.putArray("bytes");
    for (byte one : word.getBytes(UTF_8)) {
      bytes.add(one & 0xff);
    }
    return token;
  }

  private static String goOn(String prompt) {
    return KNOWN.entrySet().stream()
        .filter(each -> prompt.endsWith(each.getKey()))
        .findFirst()
        .map(Map.Entry::getValue)
        .orElse("and");
  }

  /** A word that means nothing; the same for the same text. */
  static String soup(String of) {
    return SOUP.get(new Random(of.hashCode()).nextInt(SOUP.size()));
  }

  private static String literal(String grammar) {
    return ReceivedRequest.JSON.readTree(grammar.substring(grammar.indexOf('"'))).asString("");
  }
}
