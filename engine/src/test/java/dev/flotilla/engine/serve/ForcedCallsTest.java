package dev.flotilla.engine.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.engine.grammar.Frame;
import dev.flotilla.engine.grammar.GrammarRefused;
import dev.flotilla.engine.grammar.Grammars;
import dev.flotilla.engine.sample.TokenMask;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a model is held to where it has to call, its calls' reader reads as such calls. */
class ForcedCallsTest {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final List<String> MARKS =
      List.of("<start_function_call>", "<end_function_call>", "<escape>");

  /** A model ends what it writes; this one begins to, after so many tokens. */
  private static final int LONG = 60;

  private static final int TOKENS_MAX = 3_000;

  private static final String BOOK =
      """
      {"type":"object","properties":{
        "title":{"type":"string","maxLength":12},
        "kind":{"enum":["novel","a, b"]},
        "pages":{"type":"integer","minimum":1,"maximum":900},
        "author":{"$ref":"#/$defs/person"},
        "tags":{"type":"array","items":{"type":"string","maxLength":3},"maxItems":2}},
       "required":["title","author"],
       "$defs":{"person":{"type":"object","properties":{"name":{"type":"string"},
         "alive":{"type":"boolean"}},"required":["name"]}}}
      """;

  /** All bytes, the marks as control tokens that have no text, and an end. */
  private static final byte[][] PIECES = pieces();

  private static final int FIRST_MARK = 256;
  private static final int END = PIECES.length - 1;

  private static byte[][] pieces() {
    byte[][] all = new byte[256 + MARKS.size() + 1][0];
    for (int i = 0; i < 256; i++) {
      all[i] = new byte[] {(byte) i};
    }
    return all;
  }

  private static Grammars grammars(boolean marksAreTokens) {
    return new Grammars(
        PIECES,
        new int[] {END},
        text ->
            marksAreTokens && MARKS.contains(text)
                ? OptionalInt.of(FIRST_MARK + MARKS.indexOf(text))
                : OptionalInt.empty(),
        Runnable::run);
  }

  private static Map<String, JsonNode> functions() {
    Map<String, JsonNode> functions = new LinkedHashMap<>();
    functions.put("add_book", JSON.readTree(BOOK));
    functions.put("ping", JSON.readTree("{\"type\":\"object\",\"properties\":{}}"));
    return functions;
  }

  private static Supplier<TokenMask> form(
      CallFormat format, Grammars grammars, Map<String, JsonNode> functions) {
    Frame frame = AnswerForms.frame(format, false);
    return switch (format) {
      case HERMES, MISTRAL -> grammars.jsonCalls(frame, "arguments", functions);
      case LLAMA -> grammars.jsonCalls(frame, "parameters", functions);
      case GEMMA -> grammars.gemmaCalls(frame, functions);
    };
  }

  @ParameterizedTest
  @EnumSource(CallFormat.class)
  void everyAnswerIsACallThatTheToolsAllow(CallFormat format) {
    for (boolean marksAreTokens : new boolean[] {false, true}) {
      Supplier<TokenMask> form = form(format, grammars(marksAreTokens), functions());
      for (int seed = 0; seed < 60; seed++) {
        String answer = walk(format, form.get(), new Random(seed));
        List<Part> parts = read(format, answer);
        assertThat(parts.getFirst()).as(answer).isInstanceOf(Part.Call.class);
        StringBuilder arguments = new StringBuilder();
        for (Part part : parts.subList(1, parts.size())) {
          assertThat(part).as(answer).isInstanceOf(Part.Arguments.class);
          arguments.append(((Part.Arguments) part).text());
        }
        JsonNode taken = JSON.readTree(arguments.toString());
        if (((Part.Call) parts.getFirst()).name().equals("ping")) {
          assertThat(taken.isObject()).as(answer).isTrue();
        } else {
          isABook(taken, answer);
        }
      }
    }
  }

  /** Wherever {@code max_tokens} cuts it: a mark that is half written is nothing to read. */
  @ParameterizedTest
  @EnumSource(CallFormat.class)
  void ofACallThatIsCutNothingIsContent(CallFormat format) {
    Frame frame = AnswerForms.frame(format, true);
    String one = walk(format, form(format, grammars(false), functions()).get(), new Random(5));
    String call = one.substring(frame.before().length(), one.length() - frame.after().length());
    String two = frame.before() + call + frame.again() + call + frame.after();
    for (int length = 0; length <= two.length(); length++) {
      String cut = two.substring(0, length);
      assertThat(read(format, cut, false)).as(cut).noneMatch(Part.Content.class::isInstance);
    }
    assertThat(read(format, two, false)).filteredOn(Part.Call.class::isInstance).hasSize(2);
  }

  private static void isABook(JsonNode taken, String answer) {
    String title = taken.path("title").stringValue();
    assertThat(title.codePointCount(0, title.length())).as(answer).isLessThanOrEqualTo(12);
    assertThat(taken.path("author").path("name").isString()).as(answer).isTrue();
    if (taken.has("kind")) {
      assertThat(taken.path("kind").stringValue()).as(answer).isIn("novel", "a, b");
    }
    if (taken.has("pages")) {
      assertThat(taken.path("pages").intValue()).as(answer).isBetween(1, 900);
    }
    taken.path("tags").forEach(tag -> assertThat(tag.isString()).as(answer).isTrue());
  }

  @Test
  void marksThatAreControlTokensAreWrittenAsThese() {
    TokenMask mask = form(CallFormat.GEMMA, grammars(true), functions()).get();
    assertThat(allowed(mask)).containsExactly(FIRST_MARK);
    mask.accept(FIRST_MARK);
    accept(mask, "call:add_book{title:");
    assertThat(allowed(mask)).containsExactly(FIRST_MARK + 2);
    mask.accept(FIRST_MARK + 2);
    accept(mask, "a b");
    mask.accept(FIRST_MARK + 2);
    accept(mask, ",author:{name:");
    assertThat(allowed(mask)).containsExactly(FIRST_MARK + 2);
    mask.accept(FIRST_MARK + 2);
    accept(mask, "a < b");
    mask.accept(FIRST_MARK + 2);
    accept(mask, "}}");
    assertThat(allowed(mask)).containsExactly(FIRST_MARK + 1);
  }

  @Test
  void aFunctionsNameCannotPassForTwoFunctionsOfSomebodyElse() {
    JsonNode nothing = JSON.readTree("{\"type\":\"object\",\"properties\":{}}");
    Grammars shared = grammars(true);
    form(CallFormat.LLAMA, shared, Map.of("a=" + nothing + ", b", nothing));
    Map<String, JsonNode> two = new LinkedHashMap<>();
    two.put("a", nothing);
    two.put("b", nothing);
    TokenMask mask = form(CallFormat.LLAMA, shared, two).get();
    accept(mask, "{\"name\":\"b\",\"parameters\":{}}");
    assertThat(allowed(mask)).contains(END);
  }

  /** Beside a tool that can be called, too: a model that begins the other call could not end it. */
  @ParameterizedTest
  @EnumSource(CallFormat.class)
  void aToolThatNoCallFitsIsRefusedByItsName(CallFormat format) {
    Map<String, JsonNode> functions = functions();
    functions.put("endless", JSON.readTree("{\"$ref\":\"#\"}"));
    assertThatThrownBy(() -> form(format, grammars(true), functions))
        .isInstanceOf(GrammarRefused.class)
        .hasMessage("no text fits the parameters of \"endless\"");
  }

  @Test
  void whatTheNotationCannotSayIsRefused() {
    assertThatThrownBy(() -> gemma("{\"type\":\"string\",\"pattern\":\"^a+$\"}"))
        .isInstanceOf(GrammarRefused.class)
        .hasMessage("a pattern can't be held to in the calls of this model");
    assertThatThrownBy(() -> gemma("{\"const\":\"a<escape>\"}"))
        .isInstanceOf(GrammarRefused.class)
        .hasMessageContaining("<escape>");
    assertThatThrownBy(
            () -> gemma("{\"type\":\"object\",\"properties\":{\"a:b\":{\"type\":\"null\"}}}"))
        .isInstanceOf(GrammarRefused.class)
        .hasMessage("'a:b' can't be the name of a field in the calls of this model");
  }

  private static Supplier<TokenMask> gemma(String property) {
    String schema = "{\"type\":\"object\",\"properties\":{\"x\":" + property + "}}";
    return form(CallFormat.GEMMA, grammars(true), Map.of("f", JSON.readTree(schema)));
  }

  private static List<Part> read(CallFormat format, String answer) {
    return read(format, answer, true);
  }

  private static List<Part> read(CallFormat format, String answer, boolean oneCall) {
    ReplyParser parser =
        new ReplyParser(true, false, Optional.of(format), oneCall, true, () -> "id");
    List<Part> parts = new ArrayList<>(parser.add(answer));
    parts.addAll(parser.end());
    return parts;
  }

  private static void accept(TokenMask mask, String text) {
    for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
      assertThat(allowed(mask)).as("within " + text).contains(each & 0xff);
      mask.accept(each & 0xff);
    }
  }

  private static List<Integer> allowed(TokenMask mask) {
    List<Integer> allowed = new ArrayList<>();
    for (int token = 0; token < PIECES.length; token++) {
      if ((mask.allowed()[token >> 6] >>> token & 1) != 0) {
        allowed.add(token);
      }
    }
    return allowed;
  }

  /** A random answer of the form. */
  private static String walk(CallFormat format, TokenMask mask, Random random) {
    StringBuilder answer = new StringBuilder();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int i = 0; i < TOKENS_MAX; i++) {
      List<Integer> allowed = allowed(mask);
      assertThat(allowed).as("after " + answer + bytes).isNotEmpty();
      if (allowed.contains(END)) {
        return answer + bytes.toString(StandardCharsets.UTF_8);
      }
      int token = allowed.get(random.nextInt(allowed.size()));
      if (i > LONG) {
        token = towardsTheEnd(format, bytes.toString(StandardCharsets.UTF_8), allowed, token);
      }
      if (token >= FIRST_MARK) {
        answer.append(bytes.toString(StandardCharsets.UTF_8)).append(MARKS.get(token - FIRST_MARK));
        bytes.reset();
      } else {
        bytes.write(token);
      }
      mask.accept(token);
    }
    throw new AssertionError("no end in " + TOKENS_MAX + " tokens: " + answer + bytes);
  }

  /** Whatever brings a text, a list or an object to its end, where that may come. */
  private static int towardsTheEnd(
      CallFormat format, String before, List<Integer> allowed, int otherwise) {
    List<Integer> wanted = new ArrayList<>();
    if (format == CallFormat.GEMMA) {
      for (int mark = 0; mark < MARKS.size(); mark++) {
        wanted.add(FIRST_MARK + mark);
      }
      String escape = MARKS.getLast();
      int begun = escape.length() - 1;
      while (!before.endsWith(escape.substring(0, begun))) {
        begun--;
      }
      wanted.add((int) escape.charAt(begun));
    } else {
      wanted.add((int) '"');
    }
    wanted.add((int) ']');
    wanted.add((int) '}');
    return wanted.stream().filter(allowed::contains).findFirst().orElse(otherwise);
  }
}
