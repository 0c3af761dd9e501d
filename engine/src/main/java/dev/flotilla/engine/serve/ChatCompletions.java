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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import tools.jackson.databind.node.ObjectNode;

/** {@code /v1/chat/completions}: read the request, ask the engine, pass its answers on. */
final class ChatCompletions {
  private final Engine engine;
  private final ServedModel model;
  private final Prompts prompts;
  private final ServeSettings settings;
  private final Answering answering;
  private final Names names;
  private final RandomGenerator random;
  private final Optional<CallFormat> callFormat;
  private final AnswerForms forms;

  ChatCompletions(
      Engine engine,
      ServedModel model,
      Prompts prompts,
      ServeSettings settings,
      Answering answering,
      Names names,
      RandomGenerator random,
      Optional<CallFormat> callFormat,
      AnswerForms forms) {
    this.engine = engine;
    this.model = model;
    this.prompts = prompts;
    this.settings = settings;
    this.answering = answering;
    this.names = names;
    this.random = random;
    this.callFormat = callFormat;
    this.forms = forms;
  }

  /** What is to be answered, and how. */
  private record Asked(
      AnswerOptions options, Prompt prompt, Tools tools, Optional<Supplier<TokenMask>> form) {}

  void answer(ObjectNode body, ServerResponse response) {
    Asked asked = read(body);
    AnswerOptions options = asked.options();
    GenerationRequest request =
        options.request(asked.prompt().tokens(), engine.contextMax(), model.ends(), asked.form());
    Wakeup wakeup = new Wakeup();
    List<AnswerReader> answers = new ArrayList<>();
    boolean thinks = model.thinks() && settings.reasoning() != ServeSettings.Reasoning.INLINE;
    boolean inThought = thinks && asked.prompt().text().stripTrailing().endsWith("<think>");
    for (Generation each : engine.submit(request, options.count(), wakeup)) {
      Optional<CallFormat> format =
          asked.tools().offered().isPresent() ? callFormat : Optional.empty();
      answers.add(
          new AnswerReader(
              engine,
              each,
              model.tokenizer(),
              answers.size(),
              new StopText(options.stops(), options.keepStop()),
              format.isPresent(),
              Optional.of(
                  new ReplyParser(
                      thinks,
                      inThought,
                      format,
                      asked.tools().oneCall(),
                      asked.tools().forced(),
                      names::callId))));
    }
    ReplyHead head = names.head(true, settings.reasoning().field(), asked.prompt().tokens().length);
    answering.pass(
        answers,
        options.stream()
            ? new StreamReply(response, head, options)
            : new WholeReply(response, head, options),
        wakeup);
  }

  private Asked read(ObjectNode body) {
    Fields fields = new Fields(body, "");
    names.checkModel(fields);
    boolean logprobs = fields.is("logprobs");
    int top = fields.whole("top_logprobs", 0, GenerationRequest.LOGPROBS_MAX, 0);
    if (top > 0 && !logprobs) {
      throw RequestRefused.field("top_logprobs", "top_logprobs needs logprobs to be true");
    }
    AnswerOptions options =
        AnswerOptions.read(fields, engine.vocabulary(), logprobs ? top : -1, random);
    Tools tools = Tools.read(fields);
    if (tools.offered().isPresent() && callFormat.isEmpty()) {
      throw RequestRefused.notCapable(
          "tools", "the model's chat template has no place for tools: it can't call any");
    }
    Optional<Supplier<TokenMask>> form = forms.read(fields, tools, options);
    Map<String, Object> extra = new HashMap<>();
    fields
        .text("reasoning_effort")
        .ifPresent(effort -> {
          extra.put("reasoning_effort", effort);
          extra.put("enable_thinking", !effort.equals("none"));
        });
    if (settings.reasoning() == ServeSettings.Reasoning.OFF) {
      extra.put("enable_thinking", false);
    }
    Prompt prompt = prompts.conversation(fields, tools.offered(), extra);
    fields.refuseOthers();
    return new Asked(options, prompt, tools, form);
  }
}
