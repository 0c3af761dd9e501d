package dev.flotilla.shape.reply;

import dev.flotilla.wire.text.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * One answer of a reply on its way: the stages that its pieces pass, in this order, and what they
 * remember. Thoughts are found before tool calls, since a thought may hold what looks like one;
 * stop strings end the text that is left; the reasoning is put in its place when nothing more is
 * looked for in the text.
 *
 * <p>Invariant: the role comes first, the finish last, and nothing comes after it. For one thread.
 */
final class AnswerStages {
  private final ReplyForm form;
  private final List<Stage> stages = new ArrayList<>();
  private final FirstRole role = new FirstRole();
  private final StopStrings stop;
  private final CompletionLogprobs completionLogprobs = new CompletionLogprobs();
  private final List<Piece> out = new ArrayList<>();

  /** Log-probabilities of text that is still held back. */
  private @Nullable JsonNode logprobs;

  private boolean remembers;
  private boolean finished;

  AnswerStages(ReplyForm form, Supplier<String> ids) {
    this.form = form;
    this.stop = new StopStrings(form.asked().stop());
    if (form.splitsThoughts()) {
      stages.add(new ThinkTags());
    }
    if (form.parsesTools()) {
      stages.add(new ToolCallProse(new Offered(form.asked())));
    }
    if (form.stops()) {
      stages.add(stop);
    }
    if (form.chat()) {
      stages.add(new ToolCallForm(ids));
      if (form.asked().oneToolCall()) {
        stages.add(new OneToolCall());
      }
      stages.add(new ReasoningPlace(form.promise()));
      stages.add(role);
    }
    stages.add(new FinishReasons());
  }

  /** Whether a stage remembers a thought or a call, so that it must see all that follows. */
  boolean remembers() {
    return remembers;
  }

  /** The role of a chunk that was passed on without a look at it. */
  void sawRole() {
    role.saw();
  }

  boolean roleSaid() {
    return role.said();
  }

  void sawFinish() {
    finished = true;
  }

  boolean finished() {
    return finished;
  }

  /** Whether what the engine says from here on is not wanted. */
  boolean stopped() {
    return stop.stopped();
  }

  /** The next pieces, to be handed on by {@link #drain}. */
  void take(Piece piece) {
    if (!finished) {
      remembers |= piece instanceof Piece.Thought || piece instanceof Piece.ToolCall;
      pass(0, piece);
    }
  }

  private void pass(int stage, Piece piece) {
    if (stage < stages.size()) {
      stages.get(stage).take(piece, each -> pass(stage + 1, each));
    } else if (!finished) {
      finished = piece instanceof Piece.Finish;
      out.add(piece);
    }
  }

  /** Log-probabilities that came with the pieces just taken. */
  void logprobs(JsonNode told) {
    JsonNode plain = form.chat() ? ChatLogprobs.of(told, form) : completionLogprobs.of(told, form);
    JsonNode held = logprobs;
    if (held == null) {
      logprobs = plain;
    } else {
      join((ObjectNode) held, plain);
    }
  }

  /** Adds the lists of one to those of the other. */
  static void join(ObjectNode all, JsonNode more) {
    for (var field : more.properties()) {
      if (all.get(field.getKey()) instanceof ArrayNode list && field.getValue().isArray()) {
        list.addAll((ArrayNode) field.getValue());
      } else {
        all.set(field.getKey(), field.getValue());
      }
    }
  }

  /** Hands on what is ready, each piece as a choice of its own. */
  void drain(int index, Consumer<ObjectNode> choices) {
    for (Piece piece : out) {
      choices.accept(form.chat() ? chatChoice(piece, index) : completionChoice(piece, index));
    }
    out.clear();
  }

  private ObjectNode chatChoice(Piece piece, int index) {
    ObjectNode choice = Json.MAPPER.createObjectNode();
    choice.put("index", index);
    ObjectNode delta = choice.putObject("delta");
    switch (piece) {
      case Piece.Role _ -> delta.put("role", "assistant").putNull("content");
      case Piece.Text text -> delta.put("content", text.text());
      case Piece.Thought thought -> delta.put(thought.field(), thought.text());
      case Piece.ToolCall call -> toolCall(delta, call);
      case Piece.Unknown unknown -> delta.set(unknown.field(), unknown.value());
      case Piece.Finish _ -> {
        // The end has a delta of its own, an empty one.
      }
    }
    finishReason(choice, piece);
    JsonNode held = logprobs;
    if (held != null && !(piece instanceof Piece.Role)) {
      choice.set("logprobs", held);
      logprobs = null;
    }
    return choice;
  }

  private ObjectNode completionChoice(Piece piece, int index) {
    ObjectNode choice = Json.MAPPER.createObjectNode();
    choice.put("text", piece instanceof Piece.Text text ? text.text() : "");
    choice.put("index", index);
    JsonNode held = logprobs;
    if (held == null) {
      choice.putNull("logprobs");
    } else {
      choice.set("logprobs", held);
      logprobs = null;
    }
    finishReason(choice, piece);
    return choice;
  }

  private static void finishReason(ObjectNode choice, Piece piece) {
    if (piece instanceof Piece.Finish finish) {
      choice.put("finish_reason", finish.reason());
    } else {
      choice.putNull("finish_reason");
    }
  }

  private static void toolCall(ObjectNode delta, Piece.ToolCall call) {
    ObjectNode told = delta.putArray("tool_calls").addObject();
    told.put("index", call.index());
    if (call.begins()) {
      told.put("id", call.id());
      told.put("type", "function");
    }
    ObjectNode function = told.putObject("function");
    if (call.begins()) {
      function.put("name", call.name());
    }
    function.put("arguments", call.arguments());
  }
}
