package dev.flotilla.engine.serve;

import dev.flotilla.engine.serve.AnswerReader.Said;
import dev.flotilla.server.http.ErrorReplies;
import dev.flotilla.wire.openai.ApiError;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.http.ServerResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Collects answers and writes them as one object when all have ended. */
final class WholeReply implements ReplySink {
  private final ServerResponse response;
  private final ReplyHead head;
  private final AnswerOptions options;
  private final Map<Integer, Message> messages = new TreeMap<>();

  WholeReply(ServerResponse response, ReplyHead head, AnswerOptions options) {
    this.response = response;
    this.head = head;
    this.options = options;
  }

  private static final class Message {
    private final StringBuilder thoughts = new StringBuilder();
    private final StringBuilder content = new StringBuilder();
    private final List<Part.Call> calls = new ArrayList<>();
    private final List<StringBuilder> arguments = new ArrayList<>();
    private final List<TokenLogprob> logprobs = new ArrayList<>();

    void add(Part part) {
      switch (part) {
        case Part.Thought thought -> thoughts.append(thought.text());
        case Part.Content said -> content.append(said.text());
        case Part.Call call -> {
          calls.add(call);
          arguments.add(new StringBuilder());
        }
        case Part.Arguments more -> arguments.get(more.index()).append(more.text());
      }
    }
  }

  @Override
  public void said(AnswerReader answer, Said said, List<AnswerReader> all) {
    Message message = messages.computeIfAbsent(answer.index(), _ -> new Message());
    said.parts().forEach(message::add);
    message.logprobs.addAll(said.logprobs());
  }

  @Override
  public void quiet() {
    // Nothing of a whole reply can be sent before its end.
  }

  @Override
  public void done(List<AnswerReader> all) {
    ObjectNode reply = head.object(false);
    ArrayNode choices = reply.putArray("choices");
    for (AnswerReader answer : all) {
      Message message = messages.computeIfAbsent(answer.index(), _ -> new Message());
      ObjectNode choice = ReplyHead.choice(choices, answer.index());
      if (head.chat()) {
        choice.set("message", message(message));
      } else {
        choice.put("text", message.content.toString());
      }
      head.logprobs(choice, options.logprobs() >= 0, message.logprobs, 0);
      choice.put("finish_reason", answer.finish());
    }
    reply.set("usage", head.usage(all));
    response.header(HeaderValues.CONTENT_TYPE_JSON);
    response.send(Json.bytes(reply));
  }

  private ObjectNode message(Message said) {
    ObjectNode message = Json.object();
    message.put("role", "assistant");
    if (said.content.isEmpty() && !said.calls.isEmpty()) {
      message.putNull("content");
    } else {
      message.put("content", said.content.toString());
    }
    if (!said.thoughts.isEmpty()) {
      message.put(head.reasoningField(), said.thoughts.toString());
    }
    if (!said.calls.isEmpty()) {
      ArrayNode calls = message.putArray("tool_calls");
      for (int i = 0; i < said.calls.size(); i++) {
        ObjectNode call = ReplyHead.call(said.calls.get(i));
        ((ObjectNode) call.get("function")).put("arguments", said.arguments.get(i).toString());
        calls.add(call);
      }
    }
    return message;
  }

  @Override
  public void failed(ApiError error) {
    ErrorReplies.send(response, error);
  }
}
