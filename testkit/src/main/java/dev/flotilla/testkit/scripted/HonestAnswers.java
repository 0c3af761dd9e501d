package dev.flotilla.testkit.scripted;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Answers as OpenAI's API has them, for every request that a client may make: streams, usage, tool
 * calls, thoughts, JSON, stop strings, limits, log-probabilities, several answers, refusals. A
 * thought lies in {@code reasoning_content}. One word is one token.
 *
 * <p>It is what a server has to answer so that a hub's proof finds its shape as promised; a fake in
 * another language can take it for its pattern.
 */
final class HonestAnswers {
  private static final List<String> STORY =
      List.of("Once", " upon", " a", " time", " there", " was", " water", " that", " ran", " on");
  private static final List<String> THOUGHT = List.of("Let", " me", " think", " of", " it");
  private static final String ARGUMENTS = "{\"city\":\"Rome\"}";
  private static final Pattern WORDS = Pattern.compile("(?<= )");
  private static final int STORY_WORDS = 40;
  private static final List<String> MORE_THAN_TEXT =
      List.of("tools", "response_format", "stop", "logprobs", "chat_template_kwargs", "grammar");

  private final String model;
  private final int contextTokens;

  HonestAnswers(String model, int contextTokens) {
    this.model = model;
    this.contextTokens = contextTokens;
  }

  /**
   * Whether it asks for nothing but text, and is in order: then any words will do as an answer, up
   * to its limit.
   */
  static boolean isPlain(JsonNode request) {
    for (String field : MORE_THAN_TEXT) {
      if (request.hasNonNull(field)) {
        return false;
      }
    }
    return (request.path("messages").isArray() || request.hasNonNull("prompt"))
        && (!request.hasNonNull("max_tokens") || request.path("max_tokens").isIntegralNumber());
  }

  PlannedReply to(JsonNode request, boolean chat, int promptTokens) {
    boolean streamed = request.path("stream").asBoolean(false);
    if (!request.isObject()) {
      return refusal(400, "invalid_json", "the body is not valid JSON");
    }
    if (!request.path("model").asString("").equals(model)) {
      return refusal(404, "model_not_found", "there is no such model");
    }
    JsonNode content = chat ? request.path("messages") : request.path("prompt");
    if (content.isMissingNode() || (chat && (!content.isArray() || content.isEmpty()))) {
      return refusal(400, "invalid_value", "there is nothing to answer to");
    }
    if (request.has("max_tokens") && !request.path("max_tokens").isIntegralNumber()) {
      return refusal(400, "invalid_type", "max_tokens must be a whole number");
    }
    String format = request.path("response_format").path("type").asString("text");
    if (!List.of("text", "json_object", "json_schema").contains(format)) {
      return refusal(400, "invalid_value", "there is no such response_format");
    }
    if (promptTokens + 1 > contextTokens) {
      return refusal(400, "context_length_exceeded", "the prompt is longer than the context");
    }
    if (ByHeart.isAskedBy(request, chat)) {
      return ByHeart.told(model, request, promptTokens, true);
    }
    Said said = say(request, chat, format);
    return streamed
        ? stream(request, chat, said, promptTokens)
        : whole(request, chat, said, promptTokens);
  }

  /** What an answer is made of. */
  private record Said(List<String> thought, List<String> words, int calls, String finish) {
    int tokens() {
      return thought.size() + words.size() + 8 * calls;
    }
  }

  private static Said say(JsonNode request, boolean chat, String format) {
    int limit =
        request
            .path("max_completion_tokens")
            .asInt(request.path("max_tokens").asInt(Integer.MAX_VALUE));
    boolean forced =
        request.path("tool_choice").isObject()
            || request.path("tool_choice").asString("").equals("required");
    if (chat && forced) {
      int calls = request.path("parallel_tool_calls").asBoolean(false) ? 2 : 1;
      return new Said(List.of(), List.of(), calls, "tool_calls");
    }
    if (!format.equals("text")) {
      List<String> words = List.of(WORDS.split("{\"city\": \"Rome\", \"unit\": \"C\"}"));
      return cut(List.of(), words, limit);
    }
    List<String> words = new ArrayList<>();
    for (int i = 0; i < STORY_WORDS; i++) {
      words.add(STORY.get(i % STORY.size()));
    }
    String stopped = stop(String.join("", words), request.path("stop"));
    if (stopped.length() < String.join("", words).length()) {
      return new Said(List.of(), List.of(stopped), 0, "stop");
    }
    boolean thinks = request.path("chat_template_kwargs").path("enable_thinking").asBoolean(false);
    return cut(thinks ? THOUGHT : List.of(), words, limit);
  }

  private static Said cut(List<String> thought, List<String> words, int limit) {
    if (thought.size() + words.size() <= limit) {
      return new Said(thought, words, 0, "stop");
    }
    int thoughts = Math.min(thought.size(), limit);
    return new Said(thought.subList(0, thoughts), words.subList(0, limit - thoughts), 0, "length");
  }

  private static String stop(String text, JsonNode stops) {
    int end = text.length();
    for (JsonNode each : stops.isArray() ? stops : List.of(stops)) {
      int at = each.isString() ? text.indexOf(each.stringValue()) : -1;
      end = at >= 0 ? Math.min(end, at) : end;
    }
    return text.substring(0, end);
  }

  private PlannedReply whole(JsonNode request, boolean chat, Said said, int promptTokens) {
    PlannedReply reply = new PlannedReply(false);
    ObjectNode body = head(chat ? "chat.completion" : "text_completion");
    ArrayNode choices = body.putArray("choices");
    int count = Math.max(1, request.path("n").asInt(1));
    for (int i = 0; i < count; i++) {
      ObjectNode choice = choices.addObject().put("index", i);
      if (chat) {
        ObjectNode message = choice.putObject("message").put("role", "assistant");
        String text = String.join("", said.words());
        if (text.isEmpty()) {
          message.putNull("content");
        } else {
          message.put("content", text);
        }
        if (!said.thought().isEmpty()) {
          message.put("reasoning_content", String.join("", said.thought()));
        }
        if (said.calls() > 0) {
          ArrayNode calls = message.putArray("tool_calls");
          for (int call = 0; call < said.calls(); call++) {
            ObjectNode made = calls.addObject().put("id", "call_" + i + call);
            made.put("type", "function");
            made.putObject("function").put("name", "get_weather").put("arguments", ARGUMENTS);
          }
        }
      } else {
        choice.put("text", String.join("", said.words()));
      }
      if (request.path("logprobs").asBoolean(false)) {
        choice.set("logprobs", logprobs(said.words()));
      }
      choice.put("finish_reason", said.finish());
    }
    body.set("usage", usage(promptTokens, said.tokens() * count));
    reply.objects.add(body);
    return reply;
  }

  private PlannedReply stream(JsonNode request, boolean chat, Said said, int promptTokens) {
    PlannedReply reply = new PlannedReply(true);
    int count = Math.max(1, request.path("n").asInt(1));
    boolean logprobs = request.path("logprobs").asBoolean(false);
    for (int i = 0; i < count; i++) {
      if (!chat) {
        for (String word : said.words()) {
          choice(reply, i, false).put("text", word);
        }
        choice(reply, i, false).put("text", "").put("finish_reason", said.finish());
        continue;
      }
      delta(reply, i).put("role", "assistant").put("content", "");
      for (String word : said.thought()) {
        delta(reply, i).put("reasoning_content", word);
      }
      for (String word : said.words()) {
        ObjectNode choice = choice(reply, i, true);
        choice.putObject("delta").put("content", word);
        if (logprobs) {
          choice.set("logprobs", logprobs(List.of(word)));
        }
      }
      for (int call = 0; call < said.calls(); call++) {
        ObjectNode made = call(delta(reply, i), call);
        made.put("id", "call_" + i + call).put("type", "function");
        made.putObject("function").put("name", "get_weather").put("arguments", "");
        for (String piece : List.of(ARGUMENTS.substring(0, 6), ARGUMENTS.substring(6))) {
          call(delta(reply, i), call).putObject("function").put("arguments", piece);
        }
      }
      ObjectNode last = choice(reply, i, true);
      last.putObject("delta");
      last.put("finish_reason", said.finish());
    }
    if (request.path("stream_options").path("include_usage").asBoolean(false)) {
      ObjectNode last = head(chat ? "chat.completion.chunk" : "text_completion");
      last.putArray("choices");
      last.set("usage", usage(promptTokens, said.tokens() * count));
      reply.objects.add(last);
    }
    return reply;
  }

  private static ObjectNode call(ObjectNode delta, int index) {
    return delta.putArray("tool_calls").addObject().put("index", index);
  }

  private ObjectNode delta(PlannedReply reply, int index) {
    return choice(reply, index, true).putObject("delta");
  }

  private ObjectNode choice(PlannedReply reply, int index, boolean chat) {
    ObjectNode chunk = head(chat ? "chat.completion.chunk" : "text_completion");
    reply.objects.add(chunk);
    ObjectNode choice = chunk.putArray("choices").addObject().put("index", index);
    choice.putNull("finish_reason");
    return choice;
  }

  private ObjectNode head(String object) {
    return ReceivedRequest.JSON
        .createObjectNode()
        .put("id", "chatcmpl-honest")
        .put("object", object)
        .put("created", 1_767_225_600)
        .put("model", model);
  }

  private static ObjectNode usage(int promptTokens, int answerTokens) {
    return ReceivedRequest.JSON
        .createObjectNode()
        .put("prompt_tokens", promptTokens)
        .put("completion_tokens", answerTokens)
        .put("total_tokens", promptTokens + answerTokens);
  }

  private static ObjectNode logprobs(List<String> words) {
    ObjectNode logprobs = ReceivedRequest.JSON.createObjectNode();
    ArrayNode content = logprobs.putArray("content");
    for (String word : words) {
      ObjectNode token = content.addObject();
      token.put("token", word).put("logprob", -0.25).putNull("bytes");
      ArrayNode top = token.putArray("top_logprobs");
      for (String other : List.of(word, " else")) {
        top.addObject().put("token", other).put("logprob", -0.5).putNull("bytes");
      }
    }
    return logprobs;
  }

  static PlannedReply refusal(int status, String code, String message) {
    PlannedReply reply = new PlannedReply(false);
    reply.status = status;
    ObjectNode body = ReceivedRequest.JSON.createObjectNode();
    body.putObject("error")
        .put("message", message)
        .put("type", "invalid_request_error")
        .putNull("param")
        .put("code", code);
    reply.objects.add(body);
    return reply;
  }
}
