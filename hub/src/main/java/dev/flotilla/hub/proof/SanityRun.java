package dev.flotilla.hub.proof;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.hub.proof.Evidence.Answer;
import dev.flotilla.hub.proof.Evidence.Embedding;
import dev.flotilla.hub.proof.Evidence.Option;
import dev.flotilla.hub.proof.Evidence.TextScore;
import dev.flotilla.hub.proof.Line.Whole;
import dev.flotilla.hub.proof.Questions.FixedText;
import dev.flotilla.hub.proof.Questions.Question;
import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.dialect.Feature;
import dev.flotilla.shape.dialect.Honour;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Asks one worker the {@link Questions} and writes down what it answered. */
final class SanityRun {
  private static final int OPTIONS = 5;
  private static final int SAMPLE_TOKENS = 24;
  private static final int JUDGED_TOKENS_MAX = 64;

  /** Engines that tell how likely a text is. */
  private static final Set<String> TELL_TEXTS = Set.of("builtin", "llama-server", "vllm");

  private final Line line;
  private final String model;
  private final String engine;
  private final PromptCounter counter;
  private final Duration limit;
  private final boolean tellsOptions;

  /** Counts the tokens of a request's prompt by the engine's own tokenizer. */
  @FunctionalInterface
  interface PromptCounter {
    /** For engines that have no such route. */
    PromptCounter NONE = (_, _) -> -1;

    /**
     * Marks of the engine's template that are several tokens for its tokenizer, though no model
     * knows them but as one.
     */
    default List<String> strayMarks() {
      return List.of();
    }

    /**
     * Tokens of the prompt, -1 where that can't be told.
     *
     * @param body with {@code messages} or {@code prompt}
     */
    int count(boolean chat, ObjectNode body);
  }

  /**
   * @param model what is put into {@code model}
   * @param engine the engine's word: what it can be asked for depends on it
   * @param limit of one request
   */
  SanityRun(Line line, String model, String engine, PromptCounter counter, Duration limit) {
    this.line = line;
    this.model = model;
    this.engine = engine;
    this.counter = counter;
    this.limit = limit;
    this.tellsOptions = Dialect.of(engine).honours(Feature.COMPLETION_LOGPROBS) != Honour.NOT;
  }

  /**
   * Of a worker that answers chats and texts.
   *
   * @throws IOException where it does not answer, or with an error; with the question's name
   */
  Evidence ask() throws IOException {
    List<Answer> answers = new ArrayList<>();
    for (Question question : Questions.ALL) {
      answers.add(answer(question));
    }
    List<TextScore> texts = new ArrayList<>();
    for (FixedText text : Questions.TEXTS) {
      score(text).ifPresent(texts::add);
    }
    if (texts.isEmpty() && TELL_TEXTS.contains(engine)) {
      throw new IOException("\"fixed texts\" were answered without their probability");
    }
    return new Evidence(answers, texts, sample(), List.of(), counter.strayMarks());
  }

  /** Of a worker that answers embeddings alone. */
  Evidence embed() throws IOException {
    List<Embedding> embeddings = new ArrayList<>();
    List<Answer> costs = new ArrayList<>();
    for (String text : Questions.TO_EMBED) {
      ObjectNode body = body().put("input", text);
      JsonNode reply = reply("/v1/embeddings", body, "embeddings");
      JsonNode vector = reply.at("/data/0/embedding");
      embeddings.add(
          new Embedding(text, vector.valueStream().map(value -> value.asDouble(0)).toList()));
      costs.add(
          new Answer(
              text,
              reply.at("/usage/prompt_tokens").asInt(-1),
              counter.count(false, body().put("prompt", text)),
              List.of()));
    }
    return new Evidence(costs, List.of(), "", embeddings, List.of());
  }

  private Answer answer(Question question) throws IOException {
    ObjectNode body = body().put("temperature", 0).put("max_tokens", 1);
    if (question.chat()) {
      body.putArray("messages").addObject().put("role", "user").put("content", question.text());
      body.put("logprobs", true).put("top_logprobs", OPTIONS);
    } else {
      body.put("prompt", question.text());
      if (tellsOptions) {
        body.put("logprobs", OPTIONS);
      }
    }
    JsonNode reply =
        reply(question.chat() ? "/v1/chat/completions" : "/v1/completions", body, question.name());
    List<Option> options = options(reply.at("/choices/0/logprobs"));
    if (options.isEmpty()) {
      String text = reply.at("/choices/0/text").asString("");
      options = text.isEmpty() ? List.of() : List.of(new Option(bare(text), 0));
    }
    return new Answer(
        question.name(),
        reply.at("/usage/prompt_tokens").asInt(-1),
        counter.count(question.chat(), body),
        options);
  }

  /** The likeliest first; both forms that servers have for it. */
  private static List<Option> options(JsonNode logprobs) {
    List<Option> options = new ArrayList<>();
    logprobs
        .at("/content/0/top_logprobs")
        .forEach(each ->
            options.add(
                new Option(
                    bare(each.path("token").asString("")), each.path("logprob").asDouble(0))));
    logprobs
        .at("/top_logprobs/0")
        .properties()
        .forEach(each -> options.add(new Option(bare(each.getKey()), each.getValue().asDouble(0))));
    options.sort((one, other) -> Double.compare(other.logprob(), one.logprob()));
    return options;
  }

  /** Engines show the blank before a word as it is, or as the vocabulary writes it. */
  private static String bare(String token) {
    String text = token;
    while (text.startsWith(" ") || text.startsWith("\u0120") || text.startsWith("\u2581")) {
      text = text.substring(1);
    }
    return text.isEmpty() ? token : text;
  }

  private Optional<TextScore> score(FixedText text) throws IOException {
    return switch (engine) {
      case "llama-server" -> forced(text);
      case "builtin" -> chosen(text);
      case "vllm" -> echoed(text);
      default -> Optional.empty();
    };
  }

  /**
   * llama-server tells probabilities of what it writes only, and as the model gives them, before a
   * grammar takes its pick: so a grammar makes it write the text.
   */
  private Optional<TextScore> forced(FixedText text) throws IOException {
    return written(
        text,
        body()
            .put("logprobs", 1)
            .put("grammar", "root ::= " + Line.MAPPER.writeValueAsString(text.judged())));
  }

  /** The built-in engine has the same by a choice of one text. */
  private Optional<TextScore> chosen(FixedText text) throws IOException {
    ObjectNode body = body().put("logprobs", 0);
    body.putObject("structured_outputs").putArray("choice").add(text.judged());
    return written(text, body);
  }

  /** The score of a text that the body makes the engine write. */
  private Optional<TextScore> written(FixedText text, ObjectNode body) throws IOException {
    body.put("prompt", text.given()).put("temperature", 0).put("max_tokens", JUDGED_TOKENS_MAX);
    JsonNode reply = reply("/v1/completions", body, "fixed text");
    StringBuilder written = new StringBuilder();
    double logprob = 0;
    int tokens = 0;
    for (Option token : tokens(reply.at("/choices/0/logprobs"))) {
      if (written.length() >= text.judged().length()) {
        break; // What follows is the end of the answer.
      }
      written.append(token.text());
      logprob += token.logprob();
      tokens++;
    }
    return written.toString().equals(text.judged())
        ? Optional.of(score(text, tokens, logprob))
        : Optional.empty();
  }

  /** What was written, token by token; both forms that servers have for it. */
  private static List<Option> tokens(JsonNode logprobs) {
    List<Option> tokens = new ArrayList<>();
    for (JsonNode each : logprobs.path("content")) {
      tokens.add(new Option(each.path("token").asString(""), each.path("logprob").asDouble(0)));
    }
    JsonNode told = logprobs.path("token_logprobs");
    for (JsonNode each : logprobs.path("tokens")) {
      tokens.add(new Option(each.asString(""), told.path(tokens.size()).asDouble(0)));
    }
    return tokens;
  }

  private Optional<TextScore> echoed(FixedText text) throws IOException {
    ObjectNode body =
        body()
            .put("prompt", text.given() + text.judged())
            .put("temperature", 0)
            .put("max_tokens", 1)
            .put("echo", true)
            .put("logprobs", 1);
    JsonNode logprobs = reply("/v1/completions", body, "fixed text").at("/choices/0/logprobs");
    JsonNode offsets = logprobs.path("text_offset");
    JsonNode each = logprobs.path("token_logprobs");
    double logprob = 0;
    int tokens = 0;
    int from = text.given().length();
    int to = from + text.judged().length();
    for (int i = 0; i < Math.min(offsets.size(), each.size()); i++) {
      int at = offsets.get(i).asInt(-1);
      if (at >= from && at < to) {
        logprob += each.get(i).asDouble(0);
        tokens++;
      }
    }
    return tokens == 0 ? Optional.empty() : Optional.of(score(text, tokens, logprob));
  }

  private static TextScore score(FixedText text, int tokens, double logprob) {
    return new TextScore(text.judged(), tokens, text.judged().getBytes(UTF_8).length, logprob);
  }

  private String sample() throws IOException {
    ObjectNode body = body().put("temperature", 0).put("max_tokens", SAMPLE_TOKENS);
    body.putArray("messages")
        .addObject()
        .put("role", "user")
        .put("content", "Tell me about the sea in one sentence.");
    JsonNode message =
        reply("/v1/chat/completions", body, "a short answer").at("/choices/0/message");
    return message.path("reasoning_content").asString("") + message.path("content").asString("");
  }

  private ObjectNode body() {
    return Line.MAPPER.createObjectNode().put("model", model);
  }

  private JsonNode reply(String path, ObjectNode body, String question) throws IOException {
    Whole reply;
    try {
      reply = line.ask(path, body, limit);
    } catch (IOException e) {
      throw new IOException("\"%s\" got no answer: %s".formatted(question, e.getMessage()), e);
    }
    if (!reply.ok()) {
      throw new IOException("\"%s\" was answered with %s".formatted(question, reply.error()));
    }
    return reply.body();
  }
}
