package dev.flotilla.testkit.scripted;

import com.google.errorprone.annotations.Immutable;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A way in which an engine says something else than the API has it. All were seen in real engines,
 * proxies or bug reports, but for a few that only go one step further.
 */
public enum Lie {
  // What was asked for and is not done.
  STOP_IGNORED("goes on after a stop string", ask(ask -> ask.remove("stop"))),
  LIMIT_IGNORED("goes on after max_tokens", ask(ask -> ask.remove("max_tokens"))),
  NEW_LIMIT_IGNORED(
      "knows no max_completion_tokens", ask(ask -> ask.remove("max_completion_tokens"))),
  FORMAT_IGNORED("knows no response_format", ask(ask -> ask.remove("response_format"))),
  N_IGNORED("gives one answer, however many are asked for", ask(ask -> ask.remove("n"))),
  LOGPROBS_IGNORED("leaves log-probabilities out", ask(ask -> ask.remove("logprobs"))),
  CHOICE_IGNORED("makes no call that is demanded", ask(ask -> ask.remove("tool_choice"))),
  STREAM_IGNORED("answers in one piece instead of a stream", ask(ask -> ask.remove("stream"))),
  USAGE_IGNORED("leaves a stream's usage out", ask(ask -> ask.remove("stream_options"))),
  MODEL_IGNORED("answers for a model that it has not", ask(ask -> ask.put("model", "honest"))),
  TYPES_IGNORED(
      "takes a limit that is no number",
      ask(ask -> {
        if (ask.path("max_tokens").isString()) {
          ask.put("max_tokens", 6);
        }
      })),

  // The message.
  CONTENT_NULL(
      "counts tokens and says nothing",
      tell(reply -> reply.eachMessage(message -> message.putNull("content")))),
  CONTENT_MISSING(
      "has no content in its message",
      tell(reply -> reply.eachMessage(message -> message.remove("content")))),
  ROLE_MISSING(
      "does not say whose the message is",
      tell(reply -> reply.eachMessage(message -> message.remove("role")))),
  ROLE_IN_EACH_DELTA(
      "says the role again and again",
      tell(reply -> reply.eachMessage(message -> message.put("role", "assistant")))),
  ROLE_FOREIGN(
      "calls itself something else than assistant",
      tell(reply ->
          reply.eachMessage(message -> {
            if (message.has("role")) {
              message.put("role", "bot");
            }
          }))),
  MARKERS_IN_TEXT("leaves the template's marks in the text", text("water", "water<|im_end|>")),
  FENCED_JSON("puts JSON between fences", text("\"content\":\"{", "\"content\":\"```json\\n{")),

  // Reasoning.
  REASONING_INLINE(
      "leaves its thought in the text",
      tell(reply ->
          reply.eachMessage(message -> {
            if (message.has("reasoning_content")) {
              String thought = message.path("reasoning_content").asString("");
              message.remove("reasoning_content");
              message.put("content", "<think>" + thought + message.path("content").asString(""));
            }
          }))),
  REASONING_FIELD(
      "calls the field of its thought reasoning",
      tell(reply ->
          reply.eachMessage(message -> {
            if (message.has("reasoning_content")) {
              message.set("reasoning", message.remove("reasoning_content"));
            }
          }))),

  // Tool calls.
  CALLS_AS_PROSE(
      "writes its calls into the text",
      tell(reply ->
          reply.eachMessage(message -> {
            if (message.has("tool_calls")) {
              JsonNode made = message.remove("tool_calls").get(0);
              String function = made.path("function").toString().replace("\"\"", "{}");
              message.put("content", "<tool_call>" + function + "</tool_call>");
            }
          }))),
  CALLS_AS_BARE_JSON(
      "writes its calls into the text without any mark",
      tell(reply ->
          reply.eachMessage(message -> {
            if (message.has("tool_calls") && !reply.streamed) {
              JsonNode made = message.remove("tool_calls").get(0);
              message.put("content", made.path("function").toString());
            }
          }))),
  CALLS_AS_FUNCTION_CALL(
      "calls in the way that the API had before tools",
      tell(reply ->
          reply.eachMessage(message -> {
            if (message.has("tool_calls")) {
              message.set("function_call", message.remove("tool_calls").get(0).path("function"));
            }
          }))),
  CALL_ID_MISSING("gives calls no id", tell(reply -> reply.eachCall(call -> call.remove("id")))),
  CALL_ID_CHANGES(
      "gives a call another id with each piece",
      tell(reply ->
          reply.eachCall(call -> call.put("id", "call_" + System.identityHashCode(call))))),
  CALL_ID_SHARED(
      "gives two calls one id",
      tell(reply ->
          reply.eachCall(call -> {
            if (call.has("id")) {
              call.put("id", "call_0");
            }
          }))),
  CALL_INDEX_MISSING(
      "does not count a stream's calls",
      tell(reply -> reply.eachCall(call -> call.remove("index")))),
  CALL_INDEX_FROM_ONE(
      "counts a stream's calls from 1",
      tell(reply ->
          reply.eachCall(call -> {
            if (call.has("index")) {
              call.put("index", call.path("index").asInt() + 1);
            }
          }))),
  CALL_TYPE_MISSING(
      "does not say that a call is one of a function",
      tell(reply -> reply.eachCall(call -> call.remove("type")))),
  CALL_NAME_WRONG(
      "calls a function that there is not",
      tell(reply ->
          reply.eachCall(call -> {
            if (call.path("function").has("name")) {
              ((ObjectNode) call.path("function")).put("name", "get_time");
            }
          }))),
  ARGUMENTS_AS_OBJECT(
      "gives arguments as JSON, not as text",
      tell(reply ->
          reply.eachCall(call ->
              ((ObjectNode) call.path("function")).putObject("arguments").put("city", "Rome")))),
  ARGUMENTS_BROKEN("gives arguments that are no JSON", text("{\\\"city", "{city")),
  ARGUMENTS_INVENTED("gives arguments that nobody described", text("Rome\\\"", "Atlantis\\\"")),

  // Endings.
  FINISH_MISSING(
      "never says why it ended",
      tell(reply -> reply.eachChoice(choice -> choice.putNull("finish_reason")))),
  FINISH_STOP_FOR_ALL(
      "says stop, whatever ended it",
      tell(reply ->
          reply.eachChoice(choice -> {
            if (choice.hasNonNull("finish_reason")) {
              choice.put("finish_reason", "stop");
            }
          }))),
  FINISH_FOREIGN(
      "has a word of its own for the end",
      tell(reply ->
          reply.eachChoice(choice -> {
            if (choice.hasNonNull("finish_reason")) {
              choice.put("finish_reason", "eos_token");
            }
          }))),
  DONE_MISSING("ends a stream without [DONE]", tell(reply -> reply.done = false)),
  ENDS_TWICE(
      "says the end twice",
      tell(reply -> {
        if (reply.streamed) {
          reply.objects.add(reply.objects.getLast().deepCopy());
        }
      })),

  // Usage.
  USAGE_MISSING(
      "counts nothing", tell(reply -> reply.objects.forEach(object -> object.remove("usage")))),
  USAGE_NOUGHT(
      "counts no token of its answer",
      tell(reply ->
          reply.usage(usage ->
              usage
                  .put("completion_tokens", 0)
                  .put("total_tokens", usage.path("prompt_tokens").asInt())))),
  USAGE_SUM_WRONG(
      "can't add", tell(reply -> reply.usage(usage -> usage.put("total_tokens", 7_777)))),
  USAGE_TOO_MANY(
      "counts more tokens than the limit lets through",
      tell(reply ->
          reply.usage(usage ->
              usage
                  .put("completion_tokens", 500)
                  .put("total_tokens", 500 + usage.path("prompt_tokens").asInt())))),
  USAGE_IN_EACH_EVENT(
      "counts in each event of a stream",
      tell(reply -> {
        if (reply.streamed) {
          reply.objects.forEach(object ->
              object
                  .putObject("usage")
                  .put("prompt_tokens", 1)
                  .put("completion_tokens", 1)
                  .put("total_tokens", 2));
        }
      })),
  USAGE_UNASKED(
      "counts at the end of a stream, asked or not",
      tell(reply -> {
        if (reply.streamed && reply.usageChunk() == null) {
          ObjectNode last = reply.objects.getLast().deepCopy();
          last.putArray("choices");
          last.putObject("usage")
              .put("prompt_tokens", 1)
              .put("completion_tokens", 1)
              .put("total_tokens", 2);
          reply.objects.add(last);
        }
      })),
  USAGE_FIRST(
      "counts before it has said anything",
      tell(reply -> {
        ObjectNode usage = reply.usageChunk();
        if (usage != null) {
          reply.objects.remove(usage);
          reply.objects.addFirst(usage);
        }
      })),

  // What is around the answer.
  EXTRA_FIELDS(
      "shows its own timings",
      tell(reply ->
          reply.objects.forEach(object -> object.putObject("timings").put("predicted_ms", 12.5)))),
  EXTRA_IN_CHOICE(
      "adds a reason of its own to the end",
      tell(reply -> reply.eachChoice(choice -> choice.putNull("stop_reason")))),
  OBJECT_WRONG(
      "calls an event of a stream a whole answer",
      tell(reply -> {
        if (reply.streamed) {
          reply.objects.forEach(object -> object.put("object", "chat.completion"));
        }
      })),
  ID_MISSING(
      "gives a reply no id", tell(reply -> reply.objects.forEach(object -> object.remove("id")))),
  ID_CHANGES(
      "gives each event another id",
      tell(reply -> {
        for (int i = 0; i < reply.objects.size(); i++) {
          reply.objects.get(i).put("id", "chatcmpl-" + i);
        }
      })),
  CREATED_AS_TEXT(
      "tells the time as text",
      tell(reply -> reply.objects.forEach(object -> object.put("created", "2026-01-01")))),
  MODEL_OF_ITS_OWN(
      "answers by the name of a file",
      tell(reply -> reply.objects.forEach(object -> object.put("model", "/models/own.gguf")))),
  INDEX_MISSING(
      "does not count its answers",
      tell(reply -> reply.eachChoice(choice -> choice.remove("index")))),
  CHOICES_EMPTY(
      "answers with no answer",
      tell(reply -> {
        if (!reply.streamed && !reply.isError()) {
          reply.objects.getFirst().putArray("choices");
        }
      })),
  TOP_LOGPROBS_MISSING(
      "gives log-probabilities without the other tokens",
      tell(reply ->
          reply.eachChoice(choice -> {
            for (JsonNode token : choice.path("logprobs").path("content")) {
              ((ObjectNode) token).remove("top_logprobs");
            }
          }))),
  LOGPROBS_AS_NUMBERS(
      "gives log-probabilities as plain numbers",
      tell(reply ->
          reply.eachChoice(choice -> {
            if (choice.has("logprobs")) {
              ArrayNode numbers = choice.putArray("logprobs");
              numbers.add(-0.5);
            }
          }))),

  // Errors.
  ERROR_AS_200("tells of a mistake with status 200", error(reply -> reply.status = 200)),
  ERROR_AS_500("takes a client's mistake for its own", error(reply -> reply.status = 500)),
  ERROR_AS_STRING(
      "tells of a mistake in a bare sentence",
      error(reply -> reply.objects.getFirst().put("error", "something was wrong"))),
  ERROR_AT_THE_TOP(
      "tells of a mistake without the object error",
      error(reply -> {
        ObjectNode told = (ObjectNode) reply.objects.getFirst().path("error");
        reply.objects.set(0, told.put("object", "error"));
      })),
  ERROR_CODE_AS_NUMBER(
      "repeats the status as the error's code",
      error(reply ->
          ((ObjectNode) reply.objects.getFirst().path("error")).put("code", reply.status))),
  ERROR_AS_PAGE(
      "tells of a mistake in a page for people",
      error(reply -> {
        reply.contentType = "text/html";
        reply.text = _ -> "<html><body>Bad Request</body></html>";
      })),

  // The bytes.
  JSON_BREAKS_OFF(
      "ends in the middle of its JSON",
      tell(reply -> {
        if (!reply.streamed) {
          reply.text = text -> text.substring(0, text.length() / 2);
        }
      })),
  EVENT_BREAKS_OFF(
      "ends in the middle of an event",
      tell(reply -> {
        if (reply.streamed) {
          reply.text = text -> text.substring(0, text.length() - "data: [DONE]\n\n".length() - 9);
        }
      })),
  FIELD_TWICE(
      "has a field twice",
      tell(reply -> reply.text = text -> text.replace("{\"id\":", "{\"id\":1,\"id\":"))),
  NOT_UTF8("writes half a character", tell(reply -> reply.brokenCharacter = true)),
  EVENT_NO_JSON(
      "has an event that is no JSON",
      tell(reply -> {
        if (reply.streamed) {
          reply.text = text -> text.replace("data: [DONE]", "data: bye\n\ndata: [DONE]");
        }
      })),
  TYPE_PLAIN("calls its reply plain text", tell(reply -> reply.contentType = "text/plain")),
  TYPE_MISSING_FOR_STREAM(
      "calls a stream one JSON object", tell(reply -> reply.contentType = "application/json")),
  EMPTY("answers with nothing", tell(reply -> reply.text = _ -> "")),
  SILENT("hangs up without a word", tell(reply -> reply.reset = true));

  private final String words;
  private final Change change;

  Lie(String words, Change change) {
    this.words = words;
    this.change = change;
  }

  /** What it does, in words. */
  public String words() {
    return words;
  }

  void ask(ObjectNode request) {
    change.request().accept(request);
  }

  void tell(PlannedReply reply) {
    change.reply().accept(reply);
  }

  /** Whom it touches: the request, so that something else is answered, or the reply. */
  @Immutable
  private record Change(OfRequest request, OfReply reply) {}

  @Immutable
  private interface OfRequest {
    void accept(ObjectNode request);
  }

  @Immutable
  private interface OfReply {
    void accept(PlannedReply reply);
  }

  private static Change ask(OfRequest change) {
    return new Change(change, _ -> {});
  }

  private static Change tell(OfReply change) {
    return new Change(_ -> {}, change);
  }

  private static Change error(OfReply change) {
    return tell(reply -> {
      if (reply.isError()) {
        change.accept(reply);
      }
    });
  }

  private static Change text(String honest, String lie) {
    return tell(reply -> reply.text = text -> text.replace(honest, lie));
  }

  /** Every lie, in the order in which they are told. */
  public static List<Lie> all() {
    return List.of(values());
  }
}
