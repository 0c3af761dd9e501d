package dev.flotilla.engine.serve;

import dev.flotilla.engine.Engine;
import dev.flotilla.engine.Generation;
import dev.flotilla.engine.GenerationRequest;
import dev.flotilla.engine.RequestRefused;
import dev.flotilla.engine.Wakeup;
import dev.flotilla.engine.sample.StopText;
import dev.flotilla.engine.sample.TokenMask;
import dev.flotilla.engine.serve.Prompts.Prompt;
import io.helidon.webserver.http.ServerResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code /v1/completions}: goes on with one text or several. */
final class Completions {
  /** Prompts of one request. */
  static final int PROMPTS_MAX = 64;

  private final Engine engine;
  private final ServedModel model;
  private final Prompts prompts;
  private final Answering answering;
  private final Names names;
  private final RandomGenerator random;
  private final AnswerForms forms;

  Completions(
      Engine engine,
      ServedModel model,
      Prompts prompts,
      Answering answering,
      Names names,
      RandomGenerator random,
      AnswerForms forms) {
    this.engine = engine;
    this.model = model;
    this.prompts = prompts;
    this.answering = answering;
    this.names = names;
    this.random = random;
    this.forms = forms;
  }

  void answer(ObjectNode body, ServerResponse response) {
    Fields fields = new Fields(body, "");
    names.checkModel(fields);
    int logprobs = fields.whole("logprobs", 0, GenerationRequest.LOGPROBS_MAX, -1);
    AnswerOptions options = AnswerOptions.read(fields, engine.vocabulary(), logprobs, random);
    Optional<Supplier<TokenMask>> form = forms.read(fields, Tools.NONE, options);
    List<Prompt> all = prompts(fields);
    fields.onlyPlain("echo", "this engine does not put the prompt in front of its answer", "false");
    fields.onlyPlain("best_of", "this engine gives every answer that it makes (n)", "1");
    fields.onlyPlain("suffix", "this engine goes on with a text, and fills in before none", "");
    fields.refuseOthers();
    Wakeup wakeup = new Wakeup();
    List<AnswerReader> answers = new ArrayList<>();
    int promptTokens = 0;
    try {
      for (Prompt prompt : all) {
        promptTokens += prompt.tokens().length;
        GenerationRequest request =
            options.request(prompt.tokens(), engine.contextMax(), model.ends(), form);
        for (Generation each : engine.submit(request, options.count(), wakeup)) {
          answers.add(
              new AnswerReader(
                  engine,
                  each,
                  model.tokenizer(),
                  answers.size(),
                  new StopText(options.stops(), options.keepStop()),
                  false,
                  Optional.empty()));
        }
      }
    } catch (RequestRefused refused) {
      answers.forEach(each -> engine.cancel(each.generation()));
      throw refused;
    }
    ReplyHead head = names.head(false, "", promptTokens);
    answering.pass(
        answers,
        options.stream()
            ? new StreamReply(response, head, options)
            : new WholeReply(response, head, options),
        wakeup);
  }

  private List<Prompt> prompts(Fields fields) {
    JsonNode prompt =
        fields
            .any("prompt")
            .orElseThrow(() -> RequestRefused.missing("prompt", "prompt is missing"));
    if (prompt.isString()) {
      return List.of(prompts.text(prompt.stringValue()));
    }
    if (!(prompt instanceof ArrayNode list)) {
      throw fields.wrong("prompt", "a text, a list of texts, or token numbers", prompt);
    }
    if (list.isEmpty()) {
      throw RequestRefused.field("prompt", "prompt is an empty list: it needs a text or tokens");
    }
    if (list.get(0).isNumber()) {
      return List.of(prompts.tokens("prompt", list));
    }
    if (list.size() > PROMPTS_MAX) {
      throw RequestRefused.field(
          "prompt",
          "prompt has %d texts; at most %d are allowed".formatted(list.size(), PROMPTS_MAX));
    }
    List<Prompt> all = new ArrayList<>();
    boolean texts = list.get(0).isString();
    for (int i = 0; i < list.size(); i++) {
      JsonNode each = list.get(i);
      if (texts && each.isString()) {
        all.add(prompts.text(each.stringValue()));
      } else if (!texts && each instanceof ArrayNode tokens) {
        all.add(prompts.tokens("prompt[" + i + "]", tokens));
      } else {
        throw fields.wrong(
            "prompt[" + i + "]", "a text or a list of tokens, as the first one is", each);
      }
    }
    return all;
  }
}
