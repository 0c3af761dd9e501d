package dev.flotilla.hub.proof;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.hub.routing.Dialer;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.wire.connection.Deadline;
import dev.flotilla.wire.connection.DeadlineLimits;
import dev.flotilla.wire.connection.Deadlines;
import dev.flotilla.wire.http.HttpCall;
import dev.flotilla.wire.http.HttpHeaders;
import dev.flotilla.wire.http.HttpReply;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Counts prompts by an engine's own tokenizer, on routes that clients don't have: straight to the
 * engine, over the same lanes.
 */
final class EngineTokens implements SanityRun.PromptCounter {
  private static final int REPLY_BYTES_MAX = 1 << 20;

  /** They tell how many tokens a text is, and what a template makes of a chat. */
  private static final Set<String> TELL = Set.of("builtin", "llama-server");

  private static final Duration CONNECT = Duration.ofSeconds(5);

  /** No model was trained on these but as one token each; others are written as text by some. */
  private static final List<String> WHOLE_MARKS =
      List.of(
          "<|im_start|>",
          "<|im_end|>",
          "<|start_header_id|>",
          "<|end_header_id|>",
          "<|eot_id|>",
          "<start_of_turn>",
          "<end_of_turn>");

  private final Target target;
  private final Deadlines deadlines;
  private final DeadlineLimits limits;

  EngineTokens(Target target, Deadlines deadlines, Duration limit) {
    this.target = target;
    this.deadlines = deadlines;
    this.limits = new DeadlineLimits(limit, limit, limit);
  }

  @Override
  public List<String> strayMarks() {
    if (!TELL.contains(target.engine())) {
      return List.of();
    }
    try {
      ObjectNode chat = Line.MAPPER.createObjectNode();
      chat.putArray("messages").addObject().put("role", "user").put("content", "Hello");
      String prompt = ask("/apply-template", chat).path("prompt").asString("");
      List<String> stray = new ArrayList<>();
      for (String mark : WHOLE_MARKS) {
        if (prompt.contains(mark) && tokens(mark, false).size() > 1) {
          stray.add(mark);
        }
      }
      return stray;
    } catch (IOException | JacksonException unknown) {
      return List.of();
    }
  }

  private JsonNode tokens(String content, boolean special) throws IOException {
    ObjectNode text = Line.MAPPER.createObjectNode().put("content", content);
    text.put("add_special", special).put("parse_special", true);
    return ask("/tokenize", text).path("tokens");
  }

  @Override
  public int count(boolean chat, ObjectNode body) {
    if (!TELL.contains(target.engine())) {
      return -1;
    }
    try {
      String prompt = body.path("prompt").asString("");
      if (chat) {
        ObjectNode messages = Line.MAPPER.createObjectNode();
        messages.set("messages", body.path("messages"));
        prompt = ask("/apply-template", messages).path("prompt").asString("");
      }
      JsonNode tokens = tokens(prompt, true);
      return prompt.isEmpty() || !tokens.isArray() ? -1 : tokens.size();
    } catch (IOException | JacksonException uncounted) {
      return -1;
    }
  }

  private JsonNode ask(String path, ObjectNode body) throws IOException {
    try {
      return ask(path, body, false);
    } catch (IOException perhapsOld) {
      // An engine closes a kept connection when it likes, and may just have done so.
      return ask(path, body, true);
    }
  }

  private JsonNode ask(String path, ObjectNode body, boolean fresh) throws IOException {
    Dialer.Lease lease = target.dialer().dial(fresh, CONNECT);
    boolean kept = false;
    try (Deadline _ = deadlines.watch(lease.connection(), limits)) {
      HttpHeaders headers = HttpHeaders.of("content-type", "application/json");
      String key = target.apiKey();
      HttpReply reply =
          lease
              .http1(target.host())
              .exchange(
                  HttpCall.post(
                      target.basePath() + path,
                      key == null ? headers : headers.with("authorization", "Bearer " + key),
                      Line.MAPPER.writeValueAsString(body).getBytes(UTF_8)));
      byte[] bytes = reply.bytes(REPLY_BYTES_MAX);
      if (reply.status() != 200) {
        throw new IOException("status " + reply.status());
      }
      kept = reply.reusable();
      return Line.MAPPER.readTree(bytes);
    } finally {
      if (kept) {
        lease.keep();
      } else {
        lease.connection().close();
      }
    }
  }
}
