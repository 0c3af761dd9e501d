package dev.flotilla.shape.reply;

import dev.flotilla.wire.openai.ChunkScan;
import dev.flotilla.wire.text.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Makes of the events of one streamed answer what its {@link ReplyForm} wants.
 *
 * <p>For each event {@link #passes} says at a glance, by what {@link ChunkScan} saw of it, whether
 * it is right as it is: then its bytes go on untouched. Otherwise {@link #shape} takes it apart
 * into {@link Piece}s, sends them through the {@link AnswerStages} of their choice, and writes a
 * chunk for each that comes out: one thing said in each chunk, in llama-server's form. What is held
 * back for want of what follows comes with a later event, at the latest with the finish.
 *
 * <p>The usage is taken out of whatever chunk it lies in, and is told once, behind the finish, in a
 * chunk without choices, where the client wants it; {@link #usage} has it then.
 *
 * <p>For one answer and one thread.
 */
public final class StreamShaper {
  private static final Set<String> DELTA =
      Set.of(
          "role",
          "content",
          "tool_calls",
          ReasoningPlace.REASONING,
          ReasoningPlace.REASONING_CONTENT);

  private final ReplyForm form;
  private final Supplier<String> ids;
  private final Extras extras;
  private final @Nullable StreamShaper before;
  private final Map<Integer, AnswerStages> answers = new TreeMap<>();
  private @Nullable ObjectNode usage;

  /** What chunks have beside their choices, as the latest event had it. */
  private ObjectNode common = Json.MAPPER.createObjectNode();

  private int events;

  /**
   * @param ids makes ids for tool calls that come without one
   * @param before of the answer before this one, whose {@code id} and {@code created} it shares
   */
  public StreamShaper(ReplyForm form, Supplier<String> ids, @Nullable StreamShaper before) {
    this.form = form;
    this.ids = ids;
    this.extras = new Extras(form);
    this.before = before;
  }

  /** Whether the event that was just scanned goes on as it is, but for the model's name. */
  public boolean passes(ChunkScan scan) {
    if (form.answer() > 0 || !scan.plain() || !form.keepsFingerprint()) {
      return false;
    }
    if (form.asked().answers() > 1 && common.isEmpty()) {
      // The answers to come share the head of this one.
      return false;
    }
    if (scan.hasReasoning() && !form.reasoningPasses()) {
      return false;
    }
    if (scan.hasText() && !form.textPasses()) {
      return false;
    }
    AnswerStages answer = answer(0);
    if (form.chat() && scan.speaksRole() == answer.roleSaid()) {
      return false;
    }
    if (answer.remembers() || (scan.finished() && !form.textPasses())) {
      return false;
    }
    if (scan.speaksRole()) {
      answer.sawRole();
    }
    if (scan.finished()) {
      answer.sawFinish();
    }
    if (scan.hasText() || scan.hasReasoning()) {
      events++;
    }
    return true;
  }

  /**
   * Shapes an event's data, a JSON object.
   *
   * @return the chunks that go to the client for it, none where nothing is ready or wanted
   * @throws JacksonException where something in it is no JSON after all: the scan looks at strings
   *     and brackets only
   */
  public List<ObjectNode> shape(byte[] json, int start, int length) {
    return shape((ObjectNode) Json.MAPPER.readTree(json, start, length));
  }

  List<ObjectNode> shape(ObjectNode event) {
    JsonNode told = event.path("usage");
    ObjectNode counted = UsageForm.of(told, form.dialect());
    usage = counted == null ? usage : counted;
    List<ObjectNode> chunks = new ArrayList<>();
    ObjectNode unknown = head(event);
    for (JsonNode choice : event.path("choices")) {
      if (choice instanceof ObjectNode each) {
        choice(each, unknown, chunks);
      }
    }
    if (!unknown.isEmpty()
        && chunks.isEmpty()
        && event.path("choices").isEmpty()
        && told.isMissingNode()) {
      // An event of a kind that nobody knows.
      ObjectNode chunk = common.deepCopy();
      if (event.has("choices")) {
        chunk.putArray("choices");
      }
      chunk.setAll(unknown);
      chunks.add(chunk);
    }
    return chunks;
  }

  /** Remembers what all chunks share; returns what passes since nobody knows it. */
  private ObjectNode head(ObjectNode event) {
    ObjectNode shared = Json.MAPPER.createObjectNode();
    ObjectNode unknown = Json.MAPPER.createObjectNode();
    for (Map.Entry<String, JsonNode> field : event.properties()) {
      switch (field.getKey()) {
        case "choices", "usage" -> {
          // These have their own places.
        }
        case "object" -> shared.put("object", ObjectNames.chunk(form));
        case "model" -> shared.put("model", form.model());
        case "id", "created" ->
            shared.set(
                field.getKey(),
                before == null ? field.getValue() : before.common.path(field.getKey()));
        case "system_fingerprint" -> {
          if (form.keepsFingerprint()) {
            shared.set(field.getKey(), field.getValue());
          }
        }
        default -> {
          if (extras.keeps(field)) {
            unknown.set(field.getKey(), field.getValue());
          }
        }
      }
    }
    if (!form.keepsFingerprint()) {
      shared.put("system_fingerprint", form.fingerprint());
    }
    common = shared;
    return unknown;
  }

  private void choice(ObjectNode choice, ObjectNode unknown, List<ObjectNode> chunks) {
    int index = choice.path("index").asInt(0) + form.answer();
    AnswerStages answer = answer(index);
    if (form.chat()) {
      delta(choice.path("delta"), answer);
    } else if (!choice.path("text").asString("").isEmpty()) {
      answer.take(new Piece.Text(choice.path("text").asString("")));
      events++;
    }
    JsonNode logprobs = choice.path("logprobs");
    if (logprobs.isObject() && !logprobs.isEmpty()) {
      answer.logprobs(logprobs);
    }
    JsonNode reason = choice.path("finish_reason");
    if (reason.isString()) {
      answer.take(new Piece.Finish(reason.stringValue()));
    }
    ObjectNode rest = rest(choice);
    answer.drain(
        index,
        ready -> {
          ready.setAll(rest);
          rest.removeAll();
          ObjectNode chunk = Json.MAPPER.createObjectNode();
          chunk.putArray("choices").add(ready);
          chunk.setAll(common);
          chunk.setAll(unknown);
          unknown.removeAll();
          chunks.add(chunk);
        });
  }

  /** In the order in which a model speaks, whatever the order of the fields. */
  private void delta(JsonNode delta, AnswerStages answer) {
    if (delta.path("role").isString()) {
      answer.take(new Piece.Role());
    }
    String thought = thought(delta, ReasoningPlace.REASONING_CONTENT, "", answer);
    thought(delta, ReasoningPlace.REASONING, thought, answer);
    String text = delta.path("content").asString("");
    if (!text.isEmpty()) {
      answer.take(new Piece.Text(text));
      events++;
    }
    delta.path("tool_calls").forEach(call -> answer.take(toolCall(call)));
    for (Map.Entry<String, JsonNode> field : delta.properties()) {
      boolean known = DELTA.contains(field.getKey()) || field.getValue().isNull();
      if (!known && extras.keeps(field)) {
        answer.take(new Piece.Unknown(field.getKey(), field.getValue()));
      }
    }
  }

  /** vLLM has had both fields at once, saying the same. */
  private String thought(JsonNode delta, String field, String already, AnswerStages answer) {
    String thought = delta.path(field).asString("");
    if (!thought.isEmpty() && !thought.equals(already)) {
      answer.take(new Piece.Thought(thought, field));
      events++;
    }
    return thought;
  }

  private static Piece.ToolCall toolCall(JsonNode call) {
    JsonNode function = call.path("function");
    JsonNode arguments = function.path("arguments");
    return new Piece.ToolCall(
        call.path("index").asInt(-1),
        call.path("id").asString(""),
        function.path("name").asString(""),
        arguments.isString()
            ? arguments.stringValue()
            : arguments.isMissingNode() || arguments.isNull() ? "" : arguments.toString());
  }

  /** What a choice has that nobody knows; it passes. */
  private ObjectNode rest(ObjectNode choice) {
    ObjectNode rest = Json.MAPPER.createObjectNode();
    for (Map.Entry<String, JsonNode> field : choice.properties()) {
      switch (field.getKey()) {
        case "index", "delta", "message", "text", "logprobs", "finish_reason" -> {
          // These have their own places.
        }
        default -> {
          if (extras.keeps(field)) {
            rest.set(field.getKey(), field.getValue());
          }
        }
      }
    }
    return rest;
  }

  private AnswerStages answer(int index) {
    return answers.computeIfAbsent(index, _ -> new AnswerStages(form, ids));
  }

  /** Whether every answer that began has come to its finish, and one has. */
  public boolean finished() {
    for (AnswerStages answer : answers.values()) {
      if (!answer.finished()) {
        return false;
      }
    }
    return !answers.isEmpty();
  }

  /** Whether a stop string ended the answer, so that the engine's rest is not wanted. */
  public boolean stopped() {
    for (AnswerStages answer : answers.values()) {
      if (answer.stopped()) {
        return true;
      }
    }
    return false;
  }

  /** What the answer cost, null where the engine has not said. */
  public @Nullable ObjectNode usage() {
    return usage;
  }

  /** Events until now that brought a piece of the answer: about one for each token. */
  public int pieces() {
    return events;
  }

  /** The chunk that tells the usage; it has no choices. */
  public ObjectNode usageChunk(ObjectNode told) {
    ObjectNode chunk = Json.MAPPER.createObjectNode();
    chunk.putArray("choices");
    chunk.setAll(common);
    chunk.set("usage", told);
    return chunk;
  }
}
