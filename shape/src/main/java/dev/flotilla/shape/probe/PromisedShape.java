package dev.flotilla.shape.probe;

import dev.flotilla.shape.dialect.Promise;
import dev.flotilla.shape.probe.Probe.Answered;
import dev.flotilla.shape.probe.Probe.Content;
import dev.flotilla.shape.probe.Probe.Embedded;
import dev.flotilla.shape.probe.Probe.Free;
import dev.flotilla.shape.probe.Probe.Refused;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What a promise says of the shape of one probe's reply: the OpenAI API as its clients read it,
 * with the reasoning where the model's name has it. It holds a shape to that without another server
 * to compare with.
 *
 * <p>Every fact of the shape is accounted for: what is neither demanded nor allowed is a
 * difference, so that an engine's own fields don't reach a client unseen. For one shape and one
 * thread.
 */
final class PromisedShape {
  private static final String TEXT = "string";
  private static final String NUMBER = "integer";
  private static final Refused FOR_THIS_MODEL = new Refused(400, Optional.empty());

  private final Probe probe;
  private final Promise promise;
  private final Shape shape;
  private final List<Difference> differences = new ArrayList<>();
  private final Set<String> looked = new HashSet<>();

  private PromisedShape(Probe probe, Promise promise, Shape shape) {
    this.probe = probe;
    this.promise = promise;
    this.shape = shape;
  }

  /** Where the shape is not as promised, the first difference first. */
  static List<Difference> differences(Probe probe, Promise promise, Shape shape) {
    PromisedShape promised = new PromisedShape(probe, promise, shape);
    switch (probe.wanted()) {
      case Answered _ when promised.templateRefuses() -> promised.refused(FOR_THIS_MODEL);
      case Answered answered -> promised.answered(answered);
      case Embedded _ when promised.lengthRefused() -> promised.refused(FOR_THIS_MODEL);
      case Embedded embedded -> promised.embedded(embedded);
      case Refused refused -> promised.refused(refused);
    }
    promised.others();
    return List.copyOf(promised.differences);
  }

  /** The model's template has no such messages, and the client is told so. */
  private boolean templateRefuses() {
    return probe.free().contains(Free.TEMPLATE) && shape.seen("status").equals("400");
  }

  /** The model's vectors have one length, and the client is told so. */
  private boolean lengthRefused() {
    return probe.free().contains(Free.DIMENSIONS) && shape.seen("status").equals("400");
  }

  /** A model that thinks may do so until the limit, whatever it was to say then. */
  private boolean thinks() {
    return !shape.seen("reasoning").equals("none") && promise.reasoning() != Reasoning.OFF;
  }

  private boolean thoughtToTheLimit() {
    return thinks()
        && shape.facts().entrySet().stream()
            .anyMatch(fact ->
                fact.getKey().endsWith("choices[].finish_reason")
                    && Forms.of(fact.getValue()).contains("\"length\""));
  }

  private void answered(Answered wanted) {
    expect("status", "200");
    expect("content-type", probe.streamed() ? "text/event-stream" : "application/json");
    expect("body", probe.streamed() ? "events" : "one JSON object");
    answers();
    content(wanted);
    if (probe.streamed()) {
      order();
      expect("event ids", "one for all");
      common("chunk.", true);
      choices("chunk.choices[].", wanted);
      delta();
      if (probe.usageAsked()) {
        common("usage chunk.", true);
        expect("usage chunk.choices", "list of 0");
        usage();
      } else {
        expect("usage sum", "no usage");
      }
    } else {
      common("", false);
      choices("choices[].", wanted);
      message();
      expect("usage", "object");
      usage();
    }
  }

  private void embedded(Embedded wanted) {
    expect("status", "200");
    expect("content-type", "application/json");
    expect("body", "one JSON object");
    expect("object", "\"list\"");
    expect("model", "as asked");
    expect("data", "list of " + wanted.vectors());
    expect("data[].object", "\"embedding\"");
    expect("data[].index", numbers(wanted.vectors()));
    expect("data[].embedding", wanted.base64() ? TEXT : "list");
    looked.add("data[].embedding[]");
    expect("order of indexes", "counted from 0");
    String seen = shape.seen("vectors");
    looked.add("vectors");
    if (wanted.numbers() > 0
        ? !seen.equals(wanted.numbers() + " numbers each")
        : !seen.endsWith(" numbers each")) {
      String many = wanted.numbers() > 0 ? Integer.toString(wanted.numbers()) : "as many";
      differences.add(new Difference("vectors", many + " numbers each", seen));
    }
    expect("numbers", "finite");
    expect("length of vectors", "1");
    if (wanted.vectors() > 1) {
      expect("vectors of several texts", "each its own");
    }
    expect("usage", "object");
    expect("usage.prompt_tokens", NUMBER);
    expect("usage.total_tokens", NUMBER);
    allow("usage.completion_tokens", Set.of(NUMBER, Shape.ABSENT), true);
    expect("usage sum", "adds up");
  }

  private static Set<String> numbers(int count) {
    return IntStream.range(0, count).mapToObj(Integer::toString).collect(Collectors.toSet());
  }

  private void refused(Refused wanted) {
    expect("status", Integer.toString(wanted.status()));
    expect("content-type", "application/json");
    expect("body", "one JSON object");
    expect("error", "object");
    expect("error.message", TEXT);
    allow("error.type", Set.of("null", Shape.ABSENT, "empty string"), false);
    if (wanted.code().isPresent()) {
      expect("error.code", '"' + wanted.code().get() + '"');
    } else {
      // OpenAI's clients take null or a word; some engines repeat the status as a number.
      allow("error.code", Set.of("number", "object"), false);
    }
    looked.add("error.param");
  }

  /** How many there are. */
  private void answers() {
    if (!probe.streamed()) {
      expect("choices", "list of " + probe.choices());
      return;
    }
    Set<String> lengths = new LinkedHashSet<>();
    for (int i = 1; i <= probe.choices(); i++) {
      lengths.add("list of " + i);
    }
    allow("chunk.choices", lengths, true);
  }

  private void content(Answered wanted) {
    Set<String> places = new LinkedHashSet<>(Set.of("none"));
    if (promise.reasoning() != Reasoning.OFF) {
      places.add(promise.reasoning().word());
    }
    allow("reasoning", places, true);
    boolean cut = thinks();
    switch (wanted.content()) {
      case TEXT, JSON, JSON_OF_SCHEMA ->
          allow("answer", cut ? Set.of("text", "nothing") : Set.of("text"), true);
      case CALLS ->
          allow(
              "answer",
              thoughtToTheLimit() ? Set.of("text", "calls", "nothing") : Set.of("calls"),
              true);
      case TEXT_OR_CALLS ->
          allow(
              "answer",
              cut
                  ? Set.of("text", "calls", "text and calls", "nothing")
                  : Set.of("text", "calls", "text and calls"),
              true);
    }
    if (shape.seen("answer").contains("calls")) {
      expect("calls", "get_weather");
      expect("call ids", "one each");
      expect("call arguments", "of the schema");
      if (probe.streamed()) {
        expect("call indexes", "counted from 0");
        expect("call types", "said");
      }
    }
    expect("markup", "none");
    if (probe.tokensMax() > 0) {
      expect("length", "within the limit");
    }
    if (!probe.stops().isEmpty()) {
      expect("stop strings", "not in the answer");
    }
    if (wanted.content() == Content.JSON) {
      allow("JSON answer", Set.of("an object", "cut by the limit"), true);
    } else if (wanted.content() == Content.JSON_OF_SCHEMA) {
      allow(
          "JSON answer",
          thoughtToTheLimit()
              ? Set.of("of the schema", "cut by the limit")
              : Set.of("of the schema"),
          true);
    }
  }

  private void common(String prefix, boolean chunk) {
    boolean chat = probe.form() == Probe.Form.CHAT;
    expect(prefix + "id", TEXT);
    expect(
        prefix + "object",
        !chat
            ? "\"text_completion\""
            : chunk ? "\"chat.completion.chunk\"" : "\"chat.completion\"");
    expect(prefix + "created", NUMBER);
    expect(prefix + "model", "as asked");
  }

  private void choices(String prefix, Answered wanted) {
    expect(prefix + "index", numbers(probe.choices()));
    Set<String> finishes =
        wanted.finishes().stream()
            .map(each -> '"' + each + '"')
            .collect(Collectors.toCollection(LinkedHashSet::new));
    if (thinks()) {
      finishes.add("\"length\"");
    }
    if (probe.streamed()) {
      finishes.add("null");
    }
    allow(prefix + "finish_reason", finishes, true);
    if (wanted.logprobs()) {
      logprobs(prefix + "logprobs");
    }
  }

  private void logprobs(String place) {
    if (probe.streamed()) {
      // The chunks around the text have none.
      allow(place, Set.of("object", "null", Shape.ABSENT), true);
      if (!Forms.of(shape.seen(place)).contains("object")) {
        differences.add(new Difference(place, "object", shape.seen(place)));
      }
    } else {
      expect(place, "object");
    }
    allow(place + ".content", Set.of("list", "null"), true);
    for (String token : List.of(".content[].", ".content[].top_logprobs[].")) {
      expect(place + token + "token", Set.of(TEXT));
      allow(place + token + "logprob", Set.of("number", NUMBER, "negative integer"), true);
      allow(place + token + "bytes", Set.of("list", "null"), true);
      looked.add(place + token + "bytes[]");
    }
    expect(place + ".content[].top_logprobs", "list of 2");
    allow(place + ".refusal", Set.of("null", Shape.ABSENT), true);
  }

  private void message() {
    if (probe.form() == Probe.Form.COMPLETION) {
      expect("choices[].text", TEXT);
      return;
    }
    expect("choices[].message", "object");
    expect("choices[].message.role", "\"assistant\"");
    spoken("choices[].message.");
    reasoningFields("choices[].message.");
    boolean calls =
        Forms.of(shape.seen("answer")).stream().anyMatch(each -> each.contains("calls"));
    if (calls) {
      call("choices[].message.");
    }
  }

  /** The text: there, or where there is none, null or empty. */
  private void spoken(String prefix) {
    boolean text = shape.seen("answer").equals("text");
    allow(
        prefix + "content",
        text ? Set.of(TEXT) : Set.of(TEXT, "null", "empty string", Shape.ABSENT),
        true);
  }

  private void reasoningFields(String prefix) {
    for (String field : Answer.REASONING_FIELDS) {
      boolean promised = promise.reasoning().word().equals(field);
      allow(
          prefix + field,
          promised
              ? Set.of(TEXT, "null", "empty string", Shape.ABSENT)
              : Set.of(Shape.ABSENT, "null"),
          true);
    }
  }

  private void call(String prefix) {
    String calls = prefix + "tool_calls";
    looked.add(calls);
    expect(calls + "[].type", "\"function\"");
    expect(calls + "[].id", TEXT);
    expect(calls + "[].function", "object");
    expect(calls + "[].function.name", "\"get_weather\"");
    if (probe.streamed()) {
      looked.add(calls + "[].index");
      allow(calls + "[].function.arguments", Set.of(TEXT, "empty string", Shape.ABSENT), true);
    } else {
      expect(calls + "[].function.arguments", TEXT);
    }
  }

  private void delta() {
    if (probe.form() == Probe.Form.COMPLETION) {
      allow("chunk.choices[].text", Set.of(TEXT, "empty string"), true);
      return;
    }
    String prefix = "chunk.choices[].delta.";
    expect("chunk.choices[].delta", "object");
    expect(prefix + "role", "\"assistant\"");
    allow(prefix + "content", Set.of(TEXT, "null", "empty string", Shape.ABSENT), true);
    reasoningFields(prefix);
    if (shape.seen("answer").contains("calls")) {
      call(prefix);
    }
  }

  private void order() {
    List<String> steps = new ArrayList<>();
    if (probe.form() == Probe.Form.CHAT) {
      steps.add("role");
    }
    String reasoning = promise.reasoning().word();
    if (shape.seen("reasoning").contains(reasoning) && promise.reasoning() != Reasoning.INLINE) {
      steps.add(reasoning + "…");
    }
    if (shape.seen("answer").contains("text")) {
      steps.add("content…");
    }
    if (shape.seen("answer").contains("calls")) {
      steps.add("call…");
    }
    steps.add("finish");
    List<String> ending = probe.usageAsked() ? List.of("usage", "[DONE]") : List.of("[DONE]");
    if (probe.choices() == 1) {
      steps.addAll(ending);
      expect("order", String.join(" ", steps));
      return;
    }
    expect("order", "choices… " + String.join(" ", ending));
    for (int i = 0; i < probe.choices(); i++) {
      expect("order of answer " + i, String.join(" ", steps));
    }
  }

  private void usage() {
    expect("usage.prompt_tokens", NUMBER);
    expect("usage.completion_tokens", NUMBER);
    expect("usage.total_tokens", NUMBER);
    expect("usage sum", "adds up");
    expect("answer tokens", "counted");
  }

  private void expect(String place, String form) {
    expect(place, Set.of(form));
  }

  /** Exactly these forms. */
  private void expect(String place, Set<String> forms) {
    looked.add(place);
    String seen = shape.seen(place);
    if (!Forms.of(seen).equals(forms)) {
      differences.add(new Difference(place, String.join(" or ", forms), seen));
    }
  }

  /** Any of these forms and no other; or, with {@code these} false, any but these. */
  private void allow(String place, Set<String> forms, boolean these) {
    looked.add(place);
    String seen = shape.seen(place);
    boolean fine =
        these
            ? forms.containsAll(Forms.of(seen))
            : Forms.of(seen).stream().noneMatch(forms::contains);
    if (!fine) {
      String words = forms.stream().sorted().collect(Collectors.joining(" or "));
      differences.add(new Difference(place, these ? words : "a word", seen));
    }
  }

  /** What nobody looked at is either the API's own, or should not be there. */
  private void others() {
    shape
        .facts()
        .forEach((place, seen) -> {
          if (!looked.contains(place) && !OptionalFields.allow(place, seen)) {
            differences.add(new Difference(place, Shape.ABSENT, seen));
          }
        });
  }
}
