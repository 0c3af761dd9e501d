package dev.flotilla.testkit.scripted;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.StringJoiner;
import tools.jackson.databind.JsonNode;

/** What llama-server answers on each of its paths when all is well. */
final class LlamaRoutes {
  private static final List<String> WORDS =
      List.of("Hello", " from", " the", " scripted", " engine");

  private static final int WORDS_MAX = 4_096;

  private LlamaRoutes() {}

  static Script of(String path) {
    return switch (path) {
      case "/health" -> Script.json(200, "{\"status\":\"ok\"}");
      case "/props" -> LlamaRoutes::props;
      case "/v1/models", "/models" -> LlamaRoutes::models;
      case "/slots" -> LlamaRoutes::slots;
      case "/tokenize" -> LlamaRoutes::tokenize;
      case "/apply-template" -> LlamaRoutes::applyTemplate;
      case ScriptedEngine.CHAT, ScriptedEngine.COMPLETIONS -> LlamaRoutes::generate;
      case ScriptedEngine.EMBEDDINGS -> LlamaRoutes::embeddings;
      default -> Script.notFound();
    };
  }

  private static void props(Exchange exchange) throws IOException {
    ScriptedEngine engine = exchange.engine();
    exchange.json(
        200,
        ("{\"default_generation_settings\":{\"n_ctx\":%d},\"total_slots\":%d,\"model_alias\":%s,"
                + "\"model_path\":\"/models/scripted.gguf\",\"chat_template\":\"\","
                + "\"build_info\":\"b1-scripted\",\"is_sleeping\":false}")
            .formatted(engine.contextTokens(), engine.slots(), quoted(engine.model())));
  }

  private static void models(Exchange exchange) throws IOException {
    ScriptedEngine engine = exchange.engine();
    exchange.json(
        200,
        ("{\"object\":\"list\",\"data\":[{\"id\":%s,\"object\":\"model\",\"created\":1767225600,"
                + "\"owned_by\":\"llamacpp\",\"meta\":{\"n_ctx\":%d,\"n_ctx_train\":8192}}]}")
            .formatted(quoted(engine.model()), engine.contextTokens()));
  }

  private static void slots(Exchange exchange) throws IOException {
    StringJoiner slots = new StringJoiner(",", "[", "]");
    for (int i = 0; i < exchange.engine().slots(); i++) {
      slots.add(
          "{\"id\":%d,\"n_ctx\":%d,\"speculative\":false,\"is_processing\":%b}"
              .formatted(i, exchange.engine().contextTokens(), i < exchange.engine().inFlight()));
    }
    exchange.json(200, slots.toString());
  }

  private static void tokenize(Exchange exchange) throws IOException {
    String content = exchange.request().json().path("content").asString("");
    int count = exchange.engine().count(content);
    exchange.json(200, "{\"tokens\":[" + String.join(",", Collections.nCopies(count, "1")) + "]}");
  }

  private static void applyTemplate(Exchange exchange) throws IOException {
    exchange.json(200, "{\"prompt\":" + quoted(promptOf(exchange.request().json())) + "}");
  }

  private static void generate(Exchange exchange) throws IOException {
    JsonNode request = exchange.request().json();
    ScriptedEngine engine = exchange.engine();
    if (!request.isObject()) {
      Script.error(400, "invalid_request_error", "the body is not JSON").play(exchange);
      return;
    }
    int prompt = engine.promptTokens(request);
    if (prompt + 1 > engine.contextTokens()) {
      Script.contextOverflow(prompt, engine.contextTokens()).play(exchange);
      return;
    }
    if (HonestAnswers.isPlain(request)) {
      answer(request).play(exchange);
      return;
    }
    // llama-server does not look at the name.
    String model = request.path("model").asString(engine.model());
    boolean chat = exchange.request().path().contains("/chat/");
    new HonestAnswers(model, engine.contextTokens()).to(request, chat, prompt).write(exchange);
  }

  /** A greeting, which goes on where a limit beyond it is set. */
  private static Answer answer(JsonNode request) {
    int limit = request.path("max_completion_tokens").asInt(request.path("max_tokens").asInt(0));
    List<String> words = new ArrayList<>(WORDS);
    while (words.size() <= Math.min(limit, WORDS_MAX)) {
      words.add(" on");
    }
    return Script.answer(words.toArray(String[]::new));
  }

  private static void embeddings(Exchange exchange) throws IOException {
    new HonestEmbeddings(exchange.engine()).to(exchange.request().json()).write(exchange);
  }

  /** The text that would be fed to the model. */
  static String promptOf(JsonNode request) {
    StringBuilder prompt = new StringBuilder();
    for (JsonNode message : request.path("messages")) {
      JsonNode content = message.path("content");
      prompt
          .append(message.path("role").asString(""))
          .append(": ")
          .append(content.isString() ? content.stringValue() : content.toString())
          .append('\n');
    }
    for (String field : new String[] {"prompt", "input"}) {
      JsonNode text = request.path(field);
      if (text.isString()) {
        prompt.append(text.stringValue());
      }
      for (JsonNode element : text) {
        prompt.append(element.asString("")).append('\n');
      }
    }
    return prompt.toString();
  }

  private static String quoted(String text) {
    return ReceivedRequest.JSON.writeValueAsString(text);
  }
}
