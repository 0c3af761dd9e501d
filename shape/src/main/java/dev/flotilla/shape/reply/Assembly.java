package dev.flotilla.shape.reply;

import dev.flotilla.wire.text.Json;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Puts the chunks that a {@link StreamShaper} made together into one whole reply. Text that nobody
 * wrote is {@code ""}, and null where there are tool calls instead; a field for which nothing came
 * is absent.
 */
public final class Assembly {
  private final ReplyForm form;
  private final ObjectNode head = Json.MAPPER.createObjectNode();
  private final Map<Integer, Answer> answers = new TreeMap<>();
  private boolean used;

  /** One choice as far as it has come. */
  private static final class Answer {
    final StringBuilder text = new StringBuilder();
    final StringBuilder thoughts = new StringBuilder();
    String thoughtField = "";
    final Map<Integer, Call> calls = new TreeMap<>();
    final ObjectNode messageRest = Json.MAPPER.createObjectNode();
    final ObjectNode choiceRest = Json.MAPPER.createObjectNode();
    @Nullable ObjectNode logprobs;
    JsonNode finishReason = NullNode.getInstance();
  }

  /** One tool call as far as it has come. */
  private static final class Call {
    String id = "";
    String name = "";
    final StringBuilder arguments = new StringBuilder();
  }

  public Assembly(ReplyForm form) {
    this.form = form;
  }

  /** Adds one chunk. */
  public void add(ObjectNode chunk) {
    for (Map.Entry<String, JsonNode> field : chunk.properties()) {
      if (!field.getKey().equals("choices")
          && !field.getKey().equals("usage")
          && !(used && head.has(field.getKey()))) {
        head.set(field.getKey(), field.getValue());
      }
    }
    used = true;
    for (JsonNode choice : chunk.path("choices")) {
      Answer answer = answers.computeIfAbsent(choice.path("index").asInt(0), _ -> new Answer());
      for (Map.Entry<String, JsonNode> field : choice.properties()) {
        choiceField(answer, field.getKey(), field.getValue());
      }
    }
  }

  private static void choiceField(Answer answer, String name, JsonNode value) {
    switch (name) {
      case "index" -> {
        // The answer's place.
      }
      case "delta" -> value.properties().forEach(each -> delta(answer, each));
      case "text" -> answer.text.append(value.asString(""));
      case "finish_reason" -> answer.finishReason = value.isNull() ? answer.finishReason : value;
      case "logprobs" -> {
        ObjectNode all = answer.logprobs;
        if (all != null) {
          AnswerStages.join(all, value);
        } else if (value instanceof ObjectNode first) {
          answer.logprobs = first.deepCopy();
        }
      }
      default -> answer.choiceRest.set(name, value);
    }
  }

  private static void delta(Answer answer, Map.Entry<String, JsonNode> field) {
    switch (field.getKey()) {
      case "role" -> {
        // It is the assistant's.
      }
      case "content" -> answer.text.append(field.getValue().asString(""));
      case ReasoningPlace.REASONING, ReasoningPlace.REASONING_CONTENT -> {
        answer.thoughtField = field.getKey();
        answer.thoughts.append(field.getValue().asString(""));
      }
      case "tool_calls" -> field.getValue().forEach(each -> call(answer, each));
      default -> answer.messageRest.set(field.getKey(), field.getValue());
    }
  }

  private static void call(Answer answer, JsonNode piece) {
    Call call = answer.calls.computeIfAbsent(piece.path("index").asInt(0), _ -> new Call());
    call.id += piece.path("id").asString("");
    call.name += piece.path("function").path("name").asString("");
    call.arguments.append(piece.path("function").path("arguments").asString(""));
  }

  /**
   * The whole reply.
   *
   * @param usage null where it is not known
   */
  public ObjectNode whole(@Nullable ObjectNode usage) {
    ObjectNode whole = Json.MAPPER.createObjectNode();
    var choices = whole.putArray("choices");
    answers.forEach((index, answer) -> {
      ObjectNode choice = choices.addObject();
      if (form.chat()) {
        choice.set("finish_reason", answer.finishReason);
        choice.put("index", index);
        choice.set("message", message(answer));
        if (answer.logprobs != null) {
          choice.set("logprobs", answer.logprobs);
        }
      } else {
        choice.put("text", answer.text.toString());
        choice.put("index", index);
        choice.set("logprobs", answer.logprobs != null ? answer.logprobs : NullNode.getInstance());
        choice.set("finish_reason", answer.finishReason);
      }
      choice.setAll(answer.choiceRest);
    });
    whole.setAll(head);
    if (head.has("object")) {
      whole.put("object", ObjectNames.whole(form));
    }
    if (usage != null) {
      whole.set("usage", usage);
    }
    return whole;
  }

  private static ObjectNode message(Answer answer) {
    ObjectNode message = Json.MAPPER.createObjectNode();
    message.put("role", "assistant");
    if (answer.text.isEmpty() && !answer.calls.isEmpty()) {
      message.putNull("content");
    } else {
      message.put("content", answer.text.toString());
    }
    if (!answer.thoughts.isEmpty()) {
      message.put(answer.thoughtField, answer.thoughts.toString());
    }
    if (!answer.calls.isEmpty()) {
      var calls = message.putArray("tool_calls");
      for (Call each : answer.calls.values()) {
        ObjectNode call = calls.addObject();
        call.put("type", "function");
        call.putObject("function")
            .put("name", each.name)
            .put("arguments", each.arguments.toString());
        call.put("id", each.id);
      }
    }
    return message.setAll(answer.messageRest);
  }
}
