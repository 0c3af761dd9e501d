package dev.flotilla.engine.serve;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.flotilla.engine.serve.AnswerReader.Said;
import dev.flotilla.server.http.ErrorReplies;
import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.openai.ApiErrors;
import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes answers as server-sent events, each as it is said: of a conversation first the role, then
 * thoughts, content or calls, then why it ended; at the end the usage where it was asked for, and
 * the end mark. The head is sent with the first event, so a request that fails before has a status
 * of its own; one that fails later ends with an error event and without the end mark.
 */
final class StreamReply implements ReplySink {
  private static final byte[] DATA = "data: ".getBytes(US_ASCII);
  private static final byte[] OVER = "\n\n".getBytes(US_ASCII);
  private static final byte[] DONE = "data: [DONE]\n\n".getBytes(US_ASCII);
  private static final byte[] ALIVE = ": keep-alive\n\n".getBytes(US_ASCII);

  /** As the hub has it for a stream that it cuts. */
  private static final ApiError CUT =
      new ApiError(
          502,
          "server_error",
          "stream_cut",
          "the answer is incomplete: the server was stopped in the middle of it; ask again",
          null,
          null);

  private final ServerResponse response;
  private final ReplyHead head;
  private final AnswerOptions options;

  /** Characters that each answer has said; an answer that has begun is there. */
  private final Map<Integer, Integer> offsets = new HashMap<>();

  private @Nullable OutputStream out;

  StreamReply(ServerResponse response, ReplyHead head, AnswerOptions options) {
    this.response = response;
    this.head = head;
    this.options = options;
  }

  @Override
  public void said(AnswerReader answer, Said said, List<AnswerReader> all) throws IOException {
    OutputStream to = open();
    if (offsets.putIfAbsent(answer.index(), 0) == null && head.chat()) {
      ObjectNode delta = Json.object().put("role", "assistant").put("content", "");
      chunk(to, answer, all, delta, List.of(), null);
    }
    List<TokenLogprob> logprobs = said.logprobs();
    for (Part part : said.parts()) {
      if (head.chat()) {
        chunk(to, answer, all, delta(part), logprobs, null);
      } else if (part instanceof Part.Content content) {
        chunk(to, answer, all, Json.object().put("text", content.text()), logprobs, null);
        offsets.merge(answer.index(), content.text().length(), Integer::sum);
      }
      logprobs = List.of();
    }
    if (answer.finish() != null) {
      ObjectNode last = head.chat() ? Json.object() : Json.object().put("text", "");
      chunk(to, answer, all, last, logprobs, answer.finish());
    }
    to.flush();
  }

  private ObjectNode delta(Part part) {
    ObjectNode delta = Json.object();
    switch (part) {
      case Part.Thought thought -> delta.put(head.reasoningField(), thought.text());
      case Part.Content content -> delta.put("content", content.text());
      case Part.Call call ->
          delta.putArray("tool_calls").add(ReplyHead.call(call).put("index", call.index()));
      case Part.Arguments arguments -> {
        ObjectNode entry = delta.putArray("tool_calls").addObject().put("index", arguments.index());
        entry.putObject("function").put("arguments", arguments.text());
      }
    }
    return delta;
  }

  private void chunk(
      OutputStream to,
      AnswerReader answer,
      List<AnswerReader> all,
      ObjectNode said,
      List<TokenLogprob> logprobs,
      @Nullable String finish)
      throws IOException {
    ObjectNode chunk = head.object(true);
    ObjectNode choice = ReplyHead.choice(chunk.putArray("choices"), answer.index());
    if (head.chat()) {
      choice.set("delta", said);
    } else {
      choice.setAll(said);
    }
    int offset = offsets.getOrDefault(answer.index(), 0);
    if (!head.chat() || !logprobs.isEmpty()) { // a chunk of a conversation leaves them out
      head.logprobs(choice, options.logprobs() >= 0, logprobs, offset);
    }
    choice.put("finish_reason", finish);
    if (options.usageInEachChunk()) {
      chunk.set("usage", head.usage(all));
    }
    event(to, chunk);
  }

  private static void event(OutputStream to, ObjectNode object) throws IOException {
    to.write(DATA);
    to.write(Json.bytes(object));
    to.write(OVER);
  }

  private OutputStream open() {
    OutputStream open = out;
    if (open == null) {
      response.header(HeaderNames.CONTENT_TYPE, "text/event-stream");
      response.header(HeaderNames.CACHE_CONTROL, "no-cache");
      open = response.outputStream();
      out = open;
    }
    return open;
  }

  @Override
  public void quiet() throws IOException {
    OutputStream to = open();
    to.write(ALIVE);
    to.flush();
  }

  @Override
  public void done(List<AnswerReader> all) throws IOException {
    OutputStream to = open();
    if (options.usageInStream()) {
      ObjectNode chunk = head.object(true);
      chunk.putArray("choices");
      chunk.set("usage", head.usage(all));
      event(to, chunk);
    }
    to.write(DONE);
    to.close();
  }

  @Override
  public void failed(ApiError error) throws IOException {
    OutputStream to = out;
    if (to == null) {
      ErrorReplies.send(response, error);
      return;
    }
    to.write(ApiErrors.event(error.equals(EngineServer.STOPPING) ? CUT : error));
    to.close();
  }
}
