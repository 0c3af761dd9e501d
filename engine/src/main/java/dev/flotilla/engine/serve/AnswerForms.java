package dev.flotilla.engine.serve;

import dev.flotilla.engine.RequestRefused;
import dev.flotilla.engine.grammar.Frame;
import dev.flotilla.engine.grammar.GrammarRefused;
import dev.flotilla.engine.grammar.Grammars;
import dev.flotilla.engine.sample.TokenMask;
import dev.flotilla.gguf.tokenizer.TokenKind;
import dev.flotilla.gguf.tokenizer.Tokenizer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The form that a request wants its answer to have. */
final class AnswerForms {
  /** Texts of which an answer may be one. */
  private static final int CHOICES_MAX = 1_000;

  private final Grammars grammars;
  private final Optional<CallFormat> calls;

  AnswerForms(ServedModel model, Optional<CallFormat> calls, Executor aside) {
    Tokenizer tokenizer = model.tokenizer();
    this.grammars =
        new Grammars(
            pieces(tokenizer),
            model.ends(),
            text -> single(tokenizer.tokenize(text, false, true)),
            aside);
    this.calls = calls;
  }

  /** Control tokens are no text: an answer of a form has none. */
  private static byte[][] pieces(Tokenizer tokenizer) {
    byte[][] pieces = new byte[tokenizer.size()][];
    for (int token = 0; token < pieces.length; token++) {
      TokenKind kind = tokenizer.kind(token);
      boolean text = kind != TokenKind.CONTROL && kind != TokenKind.UNKNOWN;
      pieces[token] = text && !tokenizer.isEnd(token) ? tokenizer.piece(token) : new byte[0];
    }
    return pieces;
  }

  private static OptionalInt single(int[] tokens) {
    return tokens.length == 1 ? OptionalInt.of(tokens[0]) : OptionalInt.empty();
  }

  /** The form that the fields ask for; at most one may. */
  Optional<Supplier<TokenMask>> read(Fields fields, Tools tools, AnswerOptions options) {
    List<Supplier<TokenMask>> forms = new ArrayList<>();
    fields.object("response_format").ifPresent(format -> responseFormat(format, forms));
    fields.object("structured_outputs").ifPresent(wanted -> structured(wanted, forms));
    fields
        .text("grammar")
        .filter(text -> !text.isBlank())
        .ifPresent(text -> forms.add(held("grammar", () -> grammars.gbnf(text))));
    fields
        .any("json_schema")
        .ifPresent(json -> forms.add(held("json_schema", () -> grammars.schema(json))));
    if (tools.forced()) {
      forms.add(call(tools.offered().orElseThrow(), tools.forcesSeveral()));
    }
    if (forms.size() > 1) {
      throw RequestRefused.field(
          "response_format",
          "an answer can have one form: response_format, structured_outputs, grammar, json_schema"
              + " or a call that has to be made");
    }
    if (!forms.isEmpty() && (options.endless() || options.minTokens() > 0)) {
      throw RequestRefused.field(
          options.endless() ? "ignore_eos" : "min_tokens",
          "an answer that has a form ends where the form does: leave out ignore_eos and min_tokens");
    }
    return forms.stream().findFirst();
  }

  private void responseFormat(ObjectNode format, List<Supplier<TokenMask>> forms) {
    String type = format.path("type").asString("");
    switch (type) {
      case "text" -> {}
      case "json_object" -> forms.add(grammars.anyObject());
      case "json_schema" -> {
        JsonNode schema = format.path("json_schema").path("schema");
        if (schema.isMissingNode()) {
          throw RequestRefused.missing(
              "response_format.json_schema.schema",
              "response_format.json_schema has no schema, which its type asks for");
        }
        forms.add(held("response_format", () -> grammars.schema(schema)));
      }
      default ->
          throw RequestRefused.field(
              "response_format.type",
              "response_format.type must be text, json_object or json_schema");
    }
  }

  private void structured(ObjectNode wanted, List<Supplier<TokenMask>> forms) {
    String field = "structured_outputs";
    Fields fields = new Fields(wanted, field + ".");
    fields.any("json").ifPresent(json -> forms.add(held(field, () -> grammars.schema(json))));
    fields.text("regex").ifPresent(regex -> forms.add(held(field, () -> grammars.regex(regex))));
    fields
        .list("choice")
        .ifPresent(list -> {
          List<String> texts = new ArrayList<>();
          list.forEach(each -> texts.add(each.asString("")));
          if (texts.isEmpty() || texts.size() > CHOICES_MAX || texts.contains("")) {
            throw RequestRefused.field(
                field, field + ".choice must have 1 to " + CHOICES_MAX + " texts");
          }
          forms.add(held(field, () -> grammars.choice(texts)));
        });
    fields.refuseOthers();
  }

  /** A call, or calls one after another as the model would write them. */
  private Supplier<TokenMask> call(ArrayNode tools, boolean several) {
    CallFormat format = calls.orElseThrow();
    Map<String, JsonNode> functions = new LinkedHashMap<>();
    for (JsonNode tool : tools) {
      JsonNode function = tool.path("function");
      JsonNode parameters = function.path("parameters");
      functions.put(
          function.path("name").asString(),
          parameters.isObject() ? parameters : Json.object().put("type", "object"));
    }
    return held(
        "tools",
        () ->
            switch (format) {
              case HERMES, MISTRAL ->
                  grammars.jsonCalls(frame(format, several), "arguments", functions);
              case LLAMA -> grammars.jsonCalls(frame(format, several), "parameters", functions);
              case GEMMA -> grammars.gemmaCalls(frame(format, several), functions);
            });
  }

  /** What the model writes around its calls. */
  static Frame frame(CallFormat format, boolean several) {
    String begin = format.begin();
    String end = format.end();
    List<String> marks = Stream.of(begin, end).filter(mark -> !mark.isEmpty()).toList();
    return switch (format) {
      case HERMES -> {
        String before = begin + "\n";
        String after = "\n" + end;
        yield new Frame(before, several ? after + "\n" + before : "", after, marks);
      }
      case MISTRAL -> new Frame(begin + "[", several ? ", " : "", "]", marks);
      case LLAMA -> new Frame("", several ? "; " : "", "", marks);
      case GEMMA -> {
        String before = begin + GemmaCall.CALL;
        yield new Frame(before, several ? end + before : "", end, marks);
      }
    };
  }

  private static Supplier<TokenMask> held(String field, Supplier<Supplier<TokenMask>> form) {
    try {
      return form.get();
    } catch (GrammarRefused refused) {
      throw RequestRefused.field(field, field + ": " + refused.getMessage());
    }
  }
}
