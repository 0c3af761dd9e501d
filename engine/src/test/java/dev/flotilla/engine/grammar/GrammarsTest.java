package dev.flotilla.engine.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.engine.sample.TokenMask;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class GrammarsTest {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final String[] WORDS = {
    "{\"",
    "\":",
    " \"",
    "\",",
    "true",
    "false",
    "null",
    "}\n",
    "12",
    "Paris",
    "é",
    "\uD83D\uDE42",
    "ab"
  };

  private static final byte[][] PIECES = pieces();

  /** Ends an answer. */
  static final int END = PIECES.length - 1;

  /** A token without text. */
  static final int MARK = END - 1;

  /** Of the vocabulary of this test. */
  static final Grammars GRAMMARS =
      new Grammars(
          PIECES,
          new int[] {END},
          text -> text.equals("<mark>") ? OptionalInt.of(MARK) : OptionalInt.empty(),
          Runnable::run);

  /** All bytes, some words, two tokens without text: a mark, and what ends an answer. */
  private static byte[][] pieces() {
    List<byte[]> all = new ArrayList<>();
    for (int i = 0; i < 256; i++) {
      all.add(new byte[] {(byte) i});
    }
    for (String word : WORDS) {
      all.add(word.getBytes(StandardCharsets.UTF_8));
    }
    all.add(new byte[0]);
    all.add(new byte[0]);
    return all.toArray(byte[][]::new);
  }

  @Test
  void everyAnswerIsJsonThatTheSchemaAllows() {
    Supplier<TokenMask> form =
        schema(
            """
            {"type":"object","properties":{
              "city":{"type":"string","enum":["Paris","Rome"]},
              "pop":{"type":"integer","minimum":-5,"maximum":1250},
              "tags":{"type":"array","items":{"type":"string","maxLength":4},"maxItems":3},
              "note":{"type":["string","null"]},
              "code":{"type":"string","pattern":"^[A-Z]{2}-\\\\d+$"}},
             "required":["city","pop"],"additionalProperties":false}\
            """);
    for (int seed = 0; seed < 300; seed++) {
      JsonNode answer = JSON.readTree(walk(form.get(), new Random(seed), 4_000));
      assertThat(answer.path("city").stringValue()).isIn("Paris", "Rome");
      assertThat(answer.path("pop").intValue()).isBetween(-5, 1250);
      assertThat(answer.path("tags").size()).isLessThanOrEqualTo(3);
      answer
          .path("tags")
          .forEach(tag -> {
            String text = tag.stringValue();
            assertThat(text.codePointCount(0, text.length())).isLessThanOrEqualTo(4);
          });
      if (answer.has("code")) {
        assertThat(answer.path("code").stringValue()).matches("[A-Z]{2}-\\d+");
      }
    }
  }

  @Test
  void aSchemaThatSpeaksOfItselfIsHeldTo() {
    Supplier<TokenMask> form =
        schema(
            """
            {"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{
              "v":{"type":"boolean"},"next":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}},
              "required":["v","next"]}}}\
            """);
    assertThat(fits(form, "{\"v\":true,\"next\":{\"v\":false,\"next\":null}}")).isTrue();
    assertThat(fits(form, "{\"v\":true,\"next\":{\"v\":1,\"next\":null}}")).isFalse();
    assertThat(fits(form, "{\"v\":true}")).isFalse();
  }

  @Test
  void anyObject() {
    assertThat(fits(GRAMMARS.anyObject(), "{\"a\": [1, -2.5e3, \"x\\n\", {}], \"b\":null}"))
        .isTrue();
    assertThat(fits(GRAMMARS.anyObject(), "[1]")).isFalse();
    assertThat(fits(GRAMMARS.anyObject(), "{\"a\":01}")).isFalse();
    assertThat(fits(GRAMMARS.anyObject(), "{\"a\":   1}")).as("blanks are bounded").isFalse();
    String deep = "{\"a\":".repeat(2_000) + "1" + "}".repeat(2_000);
    assertThat(fits(GRAMMARS.anyObject(), deep)).as("so is depth").isFalse();
  }

  @Test
  void expressionsMatchFromEndToEnd() {
    Supplier<TokenMask> form = GRAMMARS.regex("^(ab|[^a-zé]){2,3}\\.\\w+?$");
    assertThat(fits(form, "abX.ok")).isTrue();
    assertThat(fits(form, "\uD83D\uDE42\uD83D\uDE42.x")).isTrue();
    assertThat(fits(form, "ab.x")).isFalse();
    assertThat(fits(form, "aéX.x")).isFalse();
    assertThat(fits(GRAMMARS.regex("[0-9]{3}"), "1234")).isFalse();
    assertThat(fits(GRAMMARS.choice(List.of("yes", "no")), "no")).isTrue();
    assertThat(fits(GRAMMARS.choice(List.of("yes", "no")), "n")).isFalse();
  }

  @Test
  void everyRangeOfNumbersIsExact() {
    Random random = new Random(3);
    for (int round = 0; round < 200; round++) {
      int low = random.nextInt(3_000) - 1_500;
      int high = low + random.nextInt(1 + random.nextInt(2_000));
      Supplier<TokenMask> form =
          schema("{\"type\":\"integer\",\"minimum\":" + low + ",\"maximum\":" + high + "}");
      for (int number : new int[] {low - 1, low, (low + high) / 2, high, high + 1}) {
        assertThat(fits(form, Integer.toString(number)))
            .as("%d in %d to %d", number, low, high)
            .isEqualTo(number >= low && number <= high);
      }
    }
  }

  @Test
  void everyRangeOfCharactersIsExact() {
    Random random = new Random(4);
    for (int round = 0; round < 300; round++) {
      int a = random.nextInt(random.nextBoolean() ? 0x900 : 0x11000);
      int b = a + random.nextInt(0x3000);
      for (int c : new int[] {a - 1, a, (a + b) / 2, b, b + 1}) {
        if (c < 0 || c > Character.MAX_CODE_POINT || (c >= 0xD800 && c <= 0xDFFF)) {
          continue;
        }
        byte[] bytes = Character.toString(c).getBytes(StandardCharsets.UTF_8);
        boolean found = Utf8Ranges.of(a, b).stream().anyMatch(way -> takes(way, bytes));
        assertThat(found).as("%x in %x to %x", c, a, b).isEqualTo(c >= a && c <= b);
      }
    }
  }

  private static boolean takes(int[] way, byte[] bytes) {
    boolean fits = way.length == 2 * bytes.length;
    for (int i = 0; fits && i < bytes.length; i++) {
      fits = (bytes[i] & 0xff) >= way[2 * i] && (bytes[i] & 0xff) <= way[2 * i + 1];
    }
    return fits;
  }

  @Test
  void whatCantBeHeldToIsRefusedByItsName() {
    assertThatThrownBy(() -> schema("{\"type\":\"nonsense\"}"))
        .hasMessageContaining("\"nonsense\"");
    assertThatThrownBy(() -> schema("{\"type\":\"array\",\"uniqueItems\":true}"))
        .hasMessage("the schema has the keyword \"uniqueItems\", which is not supported");
    assertThatThrownBy(() -> schema("{\"type\":\"array\",\"a\\u001b[2J\":true}"))
        .as("what a client made up does nothing to a terminal")
        .hasMessage("the schema has the keyword \"a?[2J\", which is not supported");
    assertThatThrownBy(() -> schema("{\"$ref\":\"#/nowhere\"}")).hasMessageContaining("not there");
    assertThatThrownBy(() -> schema("{\"$ref\":\"#\"}")).hasMessageContaining("no text fits");
    String endless = "{\"type\":\"array\",\"minItems\":1,\"items\":{\"$ref\":\"#\"}}";
    assertThatThrownBy(() -> schema(endless)).hasMessageContaining("no text fits");
    assertThatThrownBy(() -> schema("{\"type\":\"string\",\"maxLength\":1000000}"))
        .hasMessageContaining("maxLength must be from 0 to 2000");
    String deep = "{\"items\":".repeat(90) + "{}" + "}".repeat(90);
    assertThatThrownBy(() -> schema(deep.replace("{\"items\"", "{\"type\":\"array\",\"items\"")))
        .hasMessageContaining("levels deep");
    String huge =
        "{\"type\":\"array\",\"minItems\":2000,\"items\":{\"type\":\"string\",\"minLength\":2000}}";
    assertThatThrownBy(() -> schema(huge)).hasMessageContaining("too large");
    assertThatThrownBy(() -> GRAMMARS.regex("(?=x)y")).hasMessageContaining("looks around");
    assertThatThrownBy(() -> GRAMMARS.regex("(x")).hasMessageContaining("a ( without a )");
    assertThatThrownBy(() -> GRAMMARS.regex("((a{1000}){1000}){1000}"))
        .hasMessageContaining("too large");
  }

  private Supplier<TokenMask> schema(String json) {
    return GRAMMARS.schema(JSON.readTree(json));
  }

  static boolean allows(TokenMask mask, int token) {
    return (mask.allowed()[token >> 6] >>> token & 1) != 0;
  }

  private static boolean fits(Supplier<TokenMask> form, String text) {
    return fits(form, text.getBytes(StandardCharsets.UTF_8));
  }

  /** Whether the bytes are an answer of that form. */
  static boolean fits(Supplier<TokenMask> form, byte[] text) {
    TokenMask mask = form.get();
    return takes(mask, text) && allows(mask, END);
  }

  /** Whether an answer of that form may begin so. */
  static boolean begins(Supplier<TokenMask> form, byte[] text) {
    return takes(form.get(), text);
  }

  private static boolean takes(TokenMask mask, byte[] text) {
    for (byte each : text) {
      if (!allows(mask, each & 0xff)) {
        return false;
      }
      mask.accept(each & 0xff);
    }
    return true;
  }

  /** A random answer, which ends as soon as it may when it has become long. */
  private String walk(TokenMask mask, Random random, int most) {
    ByteArrayOutputStream answer = new ByteArrayOutputStream();
    for (int i = 0; i < most; i++) {
      List<Integer> allowed = new ArrayList<>();
      for (int token = 0; token < PIECES.length; token++) {
        if (allows(mask, token)) {
          allowed.add(token);
        }
      }
      assertThat(allowed).as("after " + answer).isNotEmpty();
      int token = allowed.get(random.nextInt(allowed.size()));
      if (i > 30 && allowed.contains((int) '"') && random.nextInt(3) > 0) {
        token = '"';
      }
      if (token == END || (i > 30 && allowed.contains(END))) {
        return answer.toString(StandardCharsets.UTF_8);
      }
      answer.writeBytes(PIECES[token]);
      mask.accept(token);
    }
    throw new AssertionError("no end in " + most + " tokens: " + answer);
  }
}
