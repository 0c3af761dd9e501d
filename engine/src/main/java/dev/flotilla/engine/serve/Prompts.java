package dev.flotilla.engine.serve;

import dev.flotilla.engine.RequestRefused;
import dev.flotilla.gguf.sandbox.TemplateRefused;
import dev.flotilla.gguf.template.ChatTemplate;
import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.openai.TemplateArguments;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;

/** Turns conversations and texts into the model's tokens. */
final class Prompts {
  /** How Jinja writes a null. */
  private static final String NONE = "None";

  private final ServedModel model;
  private final int contextMax;
  private final Clock clock;

  Prompts(ServedModel model, int contextMax, Clock clock) {
    this.model = model;
    this.contextMax = contextMax;
    this.clock = clock;
  }

  /**
   * A prompt.
   *
   * @param text as the template wrote it, or as it was given
   * @param tokens what the model reads
   */
  @SuppressWarnings("ArrayRecordComponent") // tokens go to the engine as they are
  record Prompt(String text, int[] tokens) {}

  /** A conversation, by the model's template. */
  Prompt conversation(Fields fields, Optional<ArrayNode> tools, Map<String, Object> extra) {
    ArrayNode messages =
        fields
            .list("messages")
            .orElseThrow(() -> RequestRefused.missing("messages", "messages is missing"));
    if (messages.isEmpty()) {
      throw RequestRefused.field("messages", "messages has no message, and needs at least one");
    }
    Map<String, Object> variables = new HashMap<>(extra);
    fields
        .object("chat_template_kwargs")
        .ifPresent(given ->
            given
                .properties()
                .forEach(each -> argument(variables, each.getKey(), each.getValue())));
    ArrayNode told = Messages.forTemplate(messages);
    Optional<Boolean> prompted = fields.truth("add_generation_prompt");
    Optional<Boolean> continued = fields.truth("continue_final_message");
    String prefill = "";
    boolean last = Messages.isAssistants(told.get(told.size() - 1));
    if (continued.orElse(false) && prompted.orElse(false)) {
      throw RequestRefused.field(
          "continue_final_message",
          "continue_final_message and add_generation_prompt exclude each other");
    }
    if (continued.orElse(false) && !last) {
      throw RequestRefused.field(
          "continue_final_message", "the last message is not the assistant's: nothing to continue");
    }
    if (last && continued.orElse(prompted.isEmpty())) {
      prefill = Messages.content(told.remove(told.size() - 1));
      prompted = Optional.of(true);
    }
    put(variables, "messages", told);
    tools.ifPresent(list -> put(variables, "tools", list));
    variables.put("add_generation_prompt", prompted.orElse(true));
    variables.put("bos_token", model.named(model.tokenizer().begin()));
    variables.put("eos_token", model.named(model.tokenizer().end()));
    String text = render(variables) + prefill;
    return new Prompt(text, tokens(text, true));
  }

  private static void argument(Map<String, Object> variables, String name, JsonNode value) {
    if (!TemplateArguments.mayBeGiven(name)) {
      String field = "chat_template_kwargs." + name;
      throw RequestRefused.field(field, field + " is not for the template: leave it out");
    }
    put(variables, name, value);
  }

  private static void put(Map<String, Object> variables, String name, JsonNode value) {
    Object plain = Json.plain(value);
    if (plain != null) {
      variables.put(name, plain);
    }
  }

  private String render(Map<String, Object> variables) {
    if (model.template().isEmpty()) {
      throw new RequestRefused(
          ApiError.badRequest(
              "no_chat_template",
              "the model's file has no chat template: use /v1/completions",
              "messages"));
    }
    try {
      return render(model.template().get(), variables);
    } catch (TemplateRefused refused) {
      boolean conversation = refused.kind() == TemplateRefused.Kind.RAISED;
      throw new RequestRefused(
          ApiError.badRequest(
              "chat_template",
              conversation
                  ? "the model's chat template refuses the conversation: " + refused.reason()
                  : "the model's " + refused.getMessage(),
              "messages"));
    }
  }

  /**
   * A content that is null, or is not there, as beside calls, is an empty text for a template that
   * knows no such thing: that fails on it, or writes the word None. For all others it stays null,
   * since some tell by it that there are calls alone.
   */
  private String render(ChatTemplate template, Map<String, Object> variables)
      throws TemplateRefused {
    Optional<Map<String, Object>> plain = Messages.withoutNulls(variables);
    if (plain.isEmpty()) {
      return template.render(variables, clock);
    }
    String told;
    try {
      told = template.render(variables, clock);
    } catch (TemplateRefused refused) {
      if (refused.kind() == TemplateRefused.Kind.LIMIT) {
        throw refused;
      }
      return template.render(plain.get(), clock);
    }
    if (!told.contains(NONE)) {
      return told;
    }
    String other = template.render(plain.get(), clock);
    return told.split(NONE, -1).length > other.split(NONE, -1).length ? other : told;
  }

  /** A text as it is. */
  Prompt text(String text) {
    return new Prompt(text, tokens(text, true));
  }

  /** Tokens, which are the prompt. */
  Prompt tokens(String field, ArrayNode list) {
    int[] tokens = numbers(field, list);
    return new Prompt(model.tokenizer().text(tokens), tokens);
  }

  /** A list of tokens that the model has. */
  int[] numbers(String field, ArrayNode list) {
    int[] tokens = new int[list.size()];
    for (int i = 0; i < tokens.length; i++) {
      JsonNode each = list.get(i);
      if (!each.isIntegralNumber() || !each.canConvertToInt()) {
        throw RequestRefused.type(
            field + "[" + i + "]", field + "[" + i + "] must be a token's number, as the first is");
      }
      tokens[i] = each.intValue();
      if (tokens[i] < 0 || tokens[i] >= model.tokenizer().size()) {
        throw RequestRefused.field(
            field,
            "%s[%d] is %d, and the model's tokens are numbered from 0 to %d"
                .formatted(field, i, tokens[i], model.tokenizer().size() - 1));
      }
    }
    return tokens;
  }

  /**
   * The tokens of a text of which a vector is made: between the marks of beginning and end that the
   * model wants. Refused unread where it surely has too many.
   */
  int[] toEmbed(String text) {
    long least = leastTokens(text);
    if (least > contextMax) {
      throw RequestRefused.context(
          "input",
          "a text of the input has at least %d tokens, and a text has %d at most"
              .formatted(least, contextMax));
    }
    return text.isEmpty() ? new int[0] : model.tokenizer().tokenize(text, true, true);
  }

  private long leastTokens(String text) {
    int bytes = model.longestTokenBytes();
    return bytes == 0 ? 0 : text.getBytes(StandardCharsets.UTF_8).length / bytes;
  }

  /** The tokens of a text that a template wrote; refused unread where it surely has too many. */
  private int[] tokens(String text, boolean addEnds) {
    long least = leastTokens(text);
    if (least >= contextMax) {
      throw RequestRefused.context(
          "the prompt has at least %d tokens, and prompt and answer have %d together at most"
              .formatted(least, contextMax));
    }
    String begin = model.named(model.tokenizer().begin());
    boolean begun = !begin.isEmpty() && text.startsWith(begin);
    int[] tokens = model.tokenizer().tokenize(text, addEnds && !begun, true);
    boolean ended = addEnds && !begun && model.tokenizer().addsEnd();
    tokens = ended ? Arrays.copyOf(tokens, tokens.length - 1) : tokens;
    if (tokens.length == 0) {
      throw RequestRefused.notCapable(
          "prompt", "the prompt has no token, and this engine goes on from at least one");
    }
    return tokens;
  }
}
