package dev.flotilla.shape.request;

import dev.flotilla.shape.dialect.Feature;
import dev.flotilla.shape.request.Asked.ToolChoice;
import dev.flotilla.wire.openai.RequestScan.Endpoint;
import dev.flotilla.wire.openai.RequestScan.Field;
import dev.flotilla.wire.openai.RequestScan.Scanned;
import dev.flotilla.wire.openai.TemplateArguments;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/** Reads what a request asks for; see {@link Asked}. Made for one request and used once. */
final class AskedReader {
  /** mlx-lm takes no more; OpenAI takes {@value Asked#TOP_LOGPROBS_MAX}. */
  static final int TOP_LOGPROBS_FEW = 11;

  private static final List<String> ENCODINGS = List.of("float", "base64");

  private static final List<String> FORMATS =
      List.of("text", "json_object", "json_schema", "structural_tag");

  private final Endpoint endpoint;
  private final Scanned scanned;
  private final Set<Feature> features = EnumSet.noneOf(Feature.class);
  private int prompts;

  AskedReader(Endpoint endpoint, Scanned scanned) {
    this.endpoint = endpoint;
    this.scanned = scanned;
  }

  Asked read() throws RequestRefused {
    if (endpoint == Endpoint.EMBEDDINGS) {
      embeddings();
      return asked(List.of(), ToolChoice.FREE, -1);
    }
    answers();
    answerLimit();
    List<String> stop = stop();
    responseFormat();
    grammars();
    int topLogprobs = endpoint == Endpoint.CHAT ? chatLogprobs() : completionLogprobs();
    ToolChoice choice = ToolChoice.FREE;
    if (endpoint == Endpoint.CHAT) {
      choice = toolChoice();
      templateArguments();
      messages();
    } else {
      prompt();
      completionsOnly();
    }
    if (scanned.tools() && choice != ToolChoice.NONE) {
      features.add(Feature.TOOLS);
    }
    if (present("logit_bias") && !value("logit_bias").isEmpty()) {
      features.add(Feature.LOGIT_BIAS);
    }
    if (topLogprobs >= 0 && choice == ToolChoice.FREE && scanned.tools() && scanned.stream()) {
      features.add(Feature.STREAMED_LOGPROBS_WITH_TOOLS);
    }
    return asked(stop, choice, topLogprobs);
  }

  /** Engines refuse the same, each with a code of its own. */
  private void embeddings() throws RequestRefused {
    if (present("dimensions")) {
      features.add(Feature.DIMENSIONS);
    }
    if (present("encoding_format") && !value("encoding_format").isString()) {
      throw RequestRefused.type("encoding_format", "one of " + String.join(", ", ENCODINGS));
    }
    if (present("encoding_format") && !ENCODINGS.contains(value("encoding_format").asString(""))) {
      throw RequestRefused.value("encoding_format", "one of " + String.join(", ", ENCODINGS));
    }
    JsonNode input = value("input");
    if (isNothing(input)) {
      throw RequestRefused.value("input", "a text, a list of texts, or tokens, and not empty");
    }
    boolean tokens = input.path(0).isNumber();
    for (int i = 0; input.isArray() && i < input.size(); i++) {
      JsonNode each = input.get(i);
      String place = "input[" + i + "]";
      // llama-server would make one vector of texts and tokens together.
      if (tokens ? !each.isNumber() : !each.isString() && !each.isArray()) {
        throw RequestRefused.type(
            place, tokens ? "a token's number, as the first one is" : "a text or a list of tokens");
      }
      if (!tokens && isNothing(each)) {
        throw RequestRefused.value(place, "a text or a list of tokens that is not empty");
      }
    }
  }

  private static boolean isNothing(JsonNode input) {
    return input.isString() ? input.stringValue().isEmpty() : !input.isArray() || input.isEmpty();
  }

  private Asked asked(List<String> stop, ToolChoice choice, int topLogprobs) {
    Set<String> kept = new HashSet<>();
    if (value("timings_per_token").asBoolean(false)) {
      kept.add("timings");
    }
    if (value("return_token_ids").asBoolean(false)) {
      kept.addAll(List.of("token_ids", "prompt_token_ids"));
    }
    if (present("prompt_logprobs")) {
      kept.add("prompt_logprobs");
    }
    if (value("return_progress").asBoolean(false)) {
      kept.add("prompt_progress");
    }
    JsonNode temperature = value("temperature");
    JsonNode parallelCalls = value("parallel_tool_calls");
    return new Asked(
        endpoint,
        scanned,
        features,
        Math.max(prompts, scanned.n()),
        prompts,
        stop,
        choice,
        parallelCalls.isBoolean() && !parallelCalls.asBoolean(),
        topLogprobs,
        temperature.isNumber() && temperature.asDouble() == 0,
        kept);
  }

  private void answers() {
    if (scanned.n() > 1) {
      features.add(Feature.SEVERAL_ANSWERS);
    }
  }

  private void answerLimit() throws RequestRefused {
    for (String name : List.of("max_completion_tokens", "max_tokens")) {
      if (value(name).isNumber() && value(name).asLong() == 0) {
        throw RequestRefused.value(name, "at least 1");
      }
    }
  }

  private List<String> stop() throws RequestRefused {
    JsonNode value = value("stop");
    List<String> stop = new ArrayList<>();
    if (value.isString()) {
      stop.add(value.stringValue());
    } else {
      value.forEach(each -> stop.add(each.stringValue()));
    }
    if (stop.size() > Asked.STOPS_MAX) {
      throw new RequestRefused(
          "invalid_value",
          "\"stop\" has " + stop.size() + " strings; at most " + Asked.STOPS_MAX + " are allowed",
          "stop");
    }
    for (int i = 0; i < stop.size(); i++) {
      if (stop.get(i).isEmpty() || stop.get(i).length() > Asked.STOP_CHARS_MAX) {
        String which = value.isString() ? "stop" : "stop[" + i + "]";
        throw RequestRefused.value(which, "of 1 to " + Asked.STOP_CHARS_MAX + " characters");
      }
    }
    if (!stop.isEmpty()) {
      features.add(Feature.STOP_STRINGS);
    }
    return stop;
  }

  private void responseFormat() throws RequestRefused {
    if (!present("response_format")) {
      return;
    }
    String type = value("response_format").path("type").asString("");
    switch (type) {
      case "text" -> {
        // What every engine gives.
      }
      case "json_object" -> features.add(Feature.JSON_OBJECT);
      case "json_schema" -> features.add(Feature.JSON_SCHEMA);
      case "structural_tag" -> features.add(Feature.STRUCTURED_OUTPUTS);
      default ->
          throw RequestRefused.value(
              "response_format.type", "one of " + String.join(", ", FORMATS));
    }
  }

  /** The engines' own ways to bind an answer: the others would ignore them. */
  private void grammars() {
    if (present("grammar") || present("json_schema")) {
      features.add(Feature.GBNF_GRAMMAR);
    }
    if (present("structured_outputs")) {
      features.add(Feature.STRUCTURED_OUTPUTS);
    }
    for (String old : List.of("guided_json", "guided_regex", "guided_choice", "guided_grammar")) {
      if (present(old)) {
        features.add(Feature.GUIDED_DECODING);
      }
    }
  }

  private int chatLogprobs() throws RequestRefused {
    JsonNode wanted = value("logprobs");
    JsonNode top = value("top_logprobs");
    if (present("logprobs") && !wanted.isBoolean()) {
      throw RequestRefused.type("logprobs", "true or false");
    }
    if (present("top_logprobs")) {
      countOfLogprobs("top_logprobs", top);
    }
    if (!wanted.asBoolean(false)) {
      if (top.asInt(0) > 0) {
        throw new RequestRefused(
            "invalid_value", "\"top_logprobs\" needs \"logprobs\" to be true", "top_logprobs");
      }
      return -1;
    }
    features.add(scanned.stream() ? Feature.STREAMED_LOGPROBS : Feature.LOGPROBS);
    if (top.asInt(0) > TOP_LOGPROBS_FEW) {
      features.add(Feature.MANY_LOGPROBS);
    }
    if (!(value("temperature").isNumber() && value("temperature").asDouble() == 0)) {
      features.add(Feature.SAMPLED_LOGPROBS);
    }
    return top.asInt(0);
  }

  private int completionLogprobs() throws RequestRefused {
    if (!present("logprobs")) {
      return -1;
    }
    JsonNode wanted = value("logprobs");
    countOfLogprobs("logprobs", wanted);
    features.add(Feature.COMPLETION_LOGPROBS);
    return wanted.intValue();
  }

  private static void countOfLogprobs(String name, JsonNode count) throws RequestRefused {
    String wanted = "an integer from 0 to " + Asked.TOP_LOGPROBS_MAX;
    if (!count.isIntegralNumber()) {
      throw RequestRefused.type(name, wanted);
    }
    if (!count.canConvertToInt()
        || count.intValue() < 0
        || count.intValue() > Asked.TOP_LOGPROBS_MAX) {
      throw RequestRefused.value(name, wanted);
    }
  }

  private ToolChoice toolChoice() throws RequestRefused {
    JsonNode choice = value("tool_choice");
    if (!present("tool_choice")) {
      return ToolChoice.FREE;
    }
    String word = choice.asString("");
    if (choice.isString()) {
      switch (word) {
        case "auto" -> {
          return ToolChoice.FREE;
        }
        case "none" -> {
          return ToolChoice.NONE;
        }
        case "required" -> {
          // Some tool: there must be one.
        }
        default ->
            throw RequestRefused.value(
                "tool_choice", "\"none\", \"auto\", \"required\" or an object that names a tool");
      }
    }
    if (!scanned.tools()) {
      throw new RequestRefused(
          "invalid_value", "\"tool_choice\" needs \"tools\" to choose from", "tool_choice");
    }
    if (choice.isObject()) {
      named(choice);
    }
    features.add(Feature.FORCED_TOOL_CALL);
    return ToolChoice.FORCED;
  }

  private void named(JsonNode choice) throws RequestRefused {
    String name = choice.path("function").path("name").asString("");
    for (JsonNode tool : value("tools")) {
      if (tool.path("function").path("name").asString("").equals(name)) {
        return;
      }
    }
    throw new RequestRefused(
        "invalid_value", "\"tool_choice\" names a tool that is not among \"tools\"", "tool_choice");
  }

  private void templateArguments() throws RequestRefused {
    if (!present("chat_template_kwargs")) {
      return;
    }
    JsonNode arguments = value("chat_template_kwargs");
    if (!arguments.isObject()) {
      throw RequestRefused.type("chat_template_kwargs", "an object");
    }
    for (String name : arguments.propertyNames()) {
      if (!TemplateArguments.mayBeGiven(name)) {
        throw new RequestRefused(
            "invalid_value",
            "\"chat_template_kwargs." + name + "\" is not for the template; leave it out",
            "chat_template_kwargs." + name);
      }
    }
  }

  private void messages() throws RequestRefused {
    if (scanned.media()) {
      features.add(Feature.MEDIA);
    }
    if (scanned.prefilled()) {
      features.add(Feature.PREFILL);
    }
    if (present("reasoning_effort") && !value("reasoning_effort").isString()) {
      throw RequestRefused.type("reasoning_effort", "a string, such as \"low\"");
    }
  }

  private void prompt() throws RequestRefused {
    JsonNode prompt = value("prompt");
    if (prompt.isString()) {
      if (prompt.stringValue().isEmpty()) {
        features.add(Feature.EMPTY_PROMPT);
      }
      return;
    }
    if (prompt.isEmpty()) {
      throw new RequestRefused(
          "invalid_value", "\"prompt\" is empty; it needs a text or token ids", "prompt");
    }
    boolean texts = prompt.get(0).isString();
    boolean tokens = prompt.get(0).isIntegralNumber();
    for (int i = 0; i < prompt.size(); i++) {
      JsonNode each = prompt.get(i);
      boolean like = texts ? each.isString() : tokens ? each.isIntegralNumber() : each.isArray();
      if (!like) {
        throw RequestRefused.type(
            "prompt[" + i + "]", "a text, a token id or a list of them, as the first one is");
      }
    }
    if (!texts) {
      features.add(Feature.TOKEN_PROMPT);
    }
    if (tokens) {
      return;
    }
    prompts = prompt.size();
    if (prompts > Asked.PROMPTS_MAX) {
      throw new RequestRefused(
          "invalid_value",
          "\"prompt\" has " + prompts + " prompts; at most " + Asked.PROMPTS_MAX + " are allowed",
          "prompt");
    }
    if (prompts > 1) {
      features.add(Feature.SEVERAL_PROMPTS);
      if (scanned.n() > 1) {
        throw new RequestRefused(
            "invalid_value", "\"n\" must be 1 where \"prompt\" is a list of prompts", "n");
      }
    }
    for (JsonNode each : prompt) {
      if (each.isEmpty() && each.asString("").isEmpty()) {
        features.add(Feature.EMPTY_PROMPT);
      }
    }
  }

  private void completionsOnly() {
    if (value("echo").asBoolean(false)) {
      features.add(Feature.ECHO);
    }
    if (!value("suffix").asString("").isEmpty()) {
      features.add(Feature.SUFFIX);
    }
    if (value("best_of").asInt(1) > 1) {
      features.add(Feature.BEST_OF);
    }
  }

  private boolean present(String name) {
    Field field = scanned.field(name);
    return field != null && !field.isNull();
  }

  private JsonNode value(String name) {
    return Asked.value(scanned, name);
  }
}
