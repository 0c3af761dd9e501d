package dev.flotilla.shape.probe;

import dev.flotilla.shape.probe.Answer.Call;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.databind.JsonNode;

/** What follows from answers that are put together, apart from what the model said. */
final class AnswerFacts {
  /** What a template or a parser should have taken out of the text. */
  private static final List<String> MARKUP =
      List.of(
          "<tool_call>",
          "</tool_call>",
          "[TOOL_CALLS]",
          "<function=",
          "<|python_tag|>",
          "<|tool_call",
          "<|im_start|>",
          "<|im_end|>",
          "<|eot_id|>",
          "<|endoftext|>",
          "<end_of_turn>");

  /** No token is written with more bytes: what is longer than so many a token ignored the limit. */
  private static final int CHARS_PER_TOKEN_MAX = 64;

  private AnswerFacts() {}

  static Map<String, String> of(Probe probe, Collection<Answer> answers) {
    Map<String, String> facts = new LinkedHashMap<>();
    put(facts, "answer", answers, answer -> Set.of(answer.kind()));
    put(facts, "reasoning", answers, Answer::reasoning);
    if (answers.stream().anyMatch(answer -> !answer.calls.isEmpty())) {
      put(facts, "calls", answers, AnswerFacts::names);
      put(facts, "call ids", answers, answer -> Set.of(answer.ids().words));
      if (probe.streamed()) {
        put(facts, "call indexes", answers, answer -> Set.of(answer.indexes()));
        put(
            facts,
            "call types",
            answers,
            answer -> Set.of(answer.typesMissing() ? "missing" : "said"));
      }
      put(facts, "call arguments", answers, AnswerFacts::arguments);
    }
    put(facts, "markup", answers, answer -> Set.of(markup(answer)));
    if (probe.tokensMax() > 0) {
      put(facts, "length", answers, answer -> Set.of(length(probe, answer)));
    }
    if (!probe.stops().isEmpty()) {
      put(facts, "stop strings", answers, answer -> Set.of(stops(probe, answer)));
    }
    if (probe.wanted() instanceof Probe.Answered wanted
        && (wanted.content() == Probe.Content.JSON
            || wanted.content() == Probe.Content.JSON_OF_SCHEMA)) {
      boolean schema = wanted.content() == Probe.Content.JSON_OF_SCHEMA;
      put(facts, "JSON answer", answers, answer -> Set.of(json(answer, schema)));
    }
    return facts;
  }

  private interface Look {
    Set<String> at(Answer answer);
  }

  private static void put(
      Map<String, String> facts, String name, Collection<Answer> answers, Look look) {
    Set<String> seen = new TreeSet<>();
    answers.forEach(answer -> seen.addAll(look.at(answer)));
    facts.put(name, String.join(" or ", seen));
  }

  private static Set<String> names(Answer answer) {
    Set<String> names = new TreeSet<>();
    for (Call call : answer.calls.values()) {
      names.add(call.name.isEmpty() ? "no name" : Forms.printable(call.name.toString(), 40));
    }
    return names.isEmpty() ? Set.of("none") : names;
  }

  private static Set<String> arguments(Answer answer) {
    Set<String> forms = new TreeSet<>();
    for (Call call : answer.calls.values()) {
      JsonNode arguments = Json.read(call.arguments.toString());
      if (call.bare) {
        forms.add("JSON, but not as text");
      } else if (arguments.isObject()) {
        forms.add(ProbeSchema.isWeather(arguments) ? "of the schema" : "not of the schema");
      } else if (!arguments.isMissingNode()) {
        forms.add("JSON, but no object");
      } else {
        forms.add(answer.finish.equals("length") ? "cut by the limit" : "no JSON");
      }
    }
    return forms;
  }

  private static String markup(Answer answer) {
    for (String mark : MARKUP) {
      if (answer.text.indexOf(mark) >= 0) {
        return mark;
      }
    }
    JsonNode prose = Json.read(answer.text.toString().strip());
    JsonNode first = prose.isArray() && !prose.isEmpty() ? prose.get(0) : prose;
    return first.has("name") && (first.has("arguments") || first.has("parameters"))
        ? "a call in the text"
        : "none";
  }

  private static String length(Probe probe, Answer answer) {
    boolean beyond =
        answer.text.length() > probe.tokensMax() * CHARS_PER_TOKEN_MAX
            || (probe.streamed() && answer.pieces > probe.tokensMax() + 1);
    return beyond ? "beyond the limit" : "within the limit";
  }

  private static String stops(Probe probe, Answer answer) {
    String spoken = answer.spoken();
    return probe.stops().stream().anyMatch(spoken::contains)
        ? "in the answer"
        : "not in the answer";
  }

  private static String json(Answer answer, boolean schema) {
    String text = answer.spoken();
    JsonNode json = Json.read(text);
    if (json.isObject()) {
      return !schema ? "an object" : ProbeSchema.isCity(json) ? "of the schema" : "of another form";
    }
    if (answer.finish.equals("length") && (text.isEmpty() || text.startsWith("{"))) {
      return "cut by the limit";
    }
    return json.isMissingNode() ? "no JSON" : "JSON, but no object";
  }

  /** What the usage says, held against itself and the probe. */
  static Map<String, String> usage(
      Probe probe, Collection<Answer> answers, Optional<JsonNode> usage) {
    Map<String, String> facts = new LinkedHashMap<>();
    if (usage.isEmpty() || usage.get().isNull()) {
      facts.put("usage sum", "no usage");
      return facts;
    }
    JsonNode counts = usage.get();
    long prompt = counts.path("prompt_tokens").asLong(-1);
    long answered = counts.path("completion_tokens").asLong(-1);
    long total = counts.path("total_tokens").asLong(-1);
    facts.put(
        "usage sum",
        prompt < 0 || answered < 0 || total < 0
            ? "not three counts"
            : prompt == 0
                ? "no prompt tokens"
                : prompt + answered == total ? "adds up" : "does not add up");
    facts.put("answer tokens", tokens(probe, answers, answered));
    return facts;
  }

  private static String tokens(Probe probe, Collection<Answer> answers, long counted) {
    long limit = (long) probe.tokensMax() * probe.choices();
    if (counted < 0) {
      return "not counted";
    }
    if (counted == 0) {
      return "none";
    }
    if (limit > 0 && counted > limit) {
      return "above the limit";
    }
    boolean atLimit =
        limit > 0 && answers.stream().allMatch(answer -> answer.finish.equals("length"));
    return atLimit && counted < limit ? "below the limit that ended the answer" : "counted";
  }
}
