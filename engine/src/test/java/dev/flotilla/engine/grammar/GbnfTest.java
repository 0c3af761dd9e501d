package dev.flotilla.engine.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.engine.sample.TokenMask;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Grammars in llama.cpp's notation; {@link GbnfParityTest} asks llama.cpp about the same. */
class GbnfTest {
  @Test
  void rulesGroupsRepeatsAndAlternatives() {
    String grammar =
        """
        # an answer
        root ::= greeting ("," " " name)* mark{1,2} | # or
                 "nothing"
        greeting ::= "Hi" | "Good " [a-z]+

        name ::= [A-Z] [^ A-Z,!?.]{2} ( "-"
          [0-9] )?   # in a group a line may end
        mark ::= [!?.]
        """;
    assertThat(fits(grammar, "Hi!")).isTrue();
    assertThat(fits(grammar, "Good day, Zoë-7, Ann?!")).isTrue();
    assertThat(fits(grammar, "nothing")).isTrue();
    assertThat(fits(grammar, "Hi")).isFalse();
    assertThat(fits(grammar, "Hi!!!")).isFalse();
    assertThat(fits(grammar, "Hi, Zo!")).isFalse();
    assertThat(fits(grammar, "Hi, Zoé-7-8!")).isFalse();
    assertThat(fits(grammar, "Good !")).isFalse();
  }

  @Test
  void charactersByTheirNumbers() {
    String grammar = "root ::= \"\\x41\\u00e9\\U0001F642\\n\\\"\\\\\" [\\]\\x2d-\\x2f\\t] . [-+]";
    assertThat(fits(grammar, "Aé\uD83D\uDE42\n\"\\]é-")).isTrue();
    assertThat(fits(grammar, "Aé\uD83D\uDE42\n\"\\.\n+")).isTrue();
    assertThat(fits(grammar, "Aé\uD83D\uDE42\n\"\\0é-")).isFalse();
  }

  @Test
  void rulesMayCallEachOtherAndThemselves() {
    String grammar =
        """
        root ::= sum
        sum ::= product ("+" product)*
        product ::= [0-9]+ | "(" sum ")"
        """;
    assertThat(fits(grammar, "1+(23+(4)+5)")).isTrue();
    assertThat(fits(grammar, "1+(2")).isFalse();
    assertThat(fits("root ::= \"a\" root \"b\" | \"\"", "aaabbb")).isTrue();
    assertThat(fits("root ::= \"a\" root \"b\" | \"\"", "aabbb")).isFalse();
    String between = "root ::= between\nbetween ::= \"x\"";
    assertThat(fits(between, "x")).as("a rule may have any name").isTrue();
  }

  @Test
  void tokensByTheirNumbersAndNames() {
    int paris = 256 + 9;
    Supplier<TokenMask> form = GrammarsTest.GRAMMARS.gbnf("root ::= <[265]> !<mark> \"b\"+");
    TokenMask mask = form.get();
    assertThat(GrammarsTest.allows(mask, paris)).isTrue();
    assertThat(GrammarsTest.allows(mask, 'P')).as("only the token, not its letters").isFalse();
    mask.accept(paris);
    assertThat(GrammarsTest.allows(mask, GrammarsTest.MARK)).isFalse();
    assertThat(GrammarsTest.allows(mask, GrammarsTest.END)).isFalse();
    assertThat(GrammarsTest.allows(mask, 'x')).isTrue();
    assertThat(GrammarsTest.allows(mask, paris)).isTrue();
    mask.accept(paris);
    assertThat(GrammarsTest.allows(mask, paris)).isFalse();
    mask.accept('b');
    assertThat(GrammarsTest.allows(mask, GrammarsTest.END)).isTrue();
  }

  @Test
  void aTokenOrItsLetters() {
    TokenMask mask = GrammarsTest.GRAMMARS.gbnf("root ::= <mark> \"!\" | \"ab\" <[268]>").get();
    assertThat(GrammarsTest.allows(mask, GrammarsTest.MARK)).isTrue();
    assertThat(GrammarsTest.allows(mask, 'a')).isTrue();
    int ab = 268;
    assertThat(GrammarsTest.allows(mask, ab)).isTrue();
    mask.accept(ab);
    assertThat(GrammarsTest.allows(mask, ab)).isTrue();
    assertThat(GrammarsTest.allows(mask, 'a')).as("the token, not its letters").isFalse();
    // both ways at once: the token itself, and its letters
    mask = GrammarsTest.GRAMMARS.gbnf("root ::= <[268]> \"x\" | \"ab\" \"y\"").get();
    mask.accept(ab);
    assertThat(GrammarsTest.allows(mask, 'x')).isTrue();
    assertThat(GrammarsTest.allows(mask, 'y')).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        "root = \"a\" ~ line 1, column 6: '::=' was expected behind the rule's name",
        "root ::= \"a ~ line 1, column 10: a text that has no end",
        "root ::= \"a\"\\n\\n  b ::= [x ~ line 3, column 9: a class that has no end",
        "root ::= [] ~ line 1, column 10: a class without characters",
        "root ::= [z-a] ~ line 1, column 11: a range that runs backwards",
        "root ::= (\"a\" ~ line 1, column 10: a group that has no end",
        "root ::= (\"a\"] ~ line 1, column 14: ')' was expected, not ']'",
        "root ::= \"a\") ~ line 1, column 13: a new line was expected, not ')'",
        "root ::= * ~ line 1, column 10: a repeat of nothing",
        "root ::= \"a\"{2001} ~ line 1, column 13: a repeat that is not from 0 to 2000",
        "root ::= \"a\"{3,2} ~ line 1, column 13: a repeat whose most is less than its least",
        "root ::= \"a\"{2;3} ~ line 1, column 15: '}' was expected, not ';'",
        "root ::= \"a\"***** ~ line 1, column 17: too many repeats in a row",
        "root ::= \"\\q\" ~ line 1, column 11: an escape that there is not",
        "root ::= \"\\xg0\" ~ line 1, column 11: a character's number that has not 2 digits",
        "root ::= \"\\uD800\" ~ line 1, column 11: the number of no character",
        "root ::= b\\nc ::= \"x\" ~ line 1, column 10: the rule \"b\" is used and is nowhere defined",
        "root ::= \"a\"\\nroot ::= \"b\" ~ line 2, column 1: the rule \"root\" is defined twice",
        "answer ::= \"a\" ~ it has no rule 'root', with which an answer begins",
        "root ::= <[999]> ~ line 1, column 10: no number of a token, which are 0 to 270",
        "root ::= <[-1]> ~ line 1, column 10: no number of a token, which are 0 to 270",
        "root ::= <[270]> ~ line 1, column 10: a token that ends an answer, which comes where the grammar ends",
        "root ::= <nothing> ~ line 1, column 10: \"<nothing>\" is not one token of this model",
        "root ::= \"a\" !x ~ line 1, column 15: '<' was expected, not 'x'",
        "root ::= <[12] ~ line 1, column 10: a mark for a token that has no end",
        "root ::= \"a\"\\n| \"b\" ~ line 2, column 1: a name was expected, not '|'",
        "root ::= a\\na ::= b\\nb ::= a \"x\" | \"y\" ~ line 2, column 1: the rule \"a\" begins with itself, so no text could be begun",
        "root ::= n root \"x\" | \"y\"\\nn ::= \"n\"? ~ line 1, column 1: the rule \"root\" begins with itself, so no text could be begun",
        "root ::= \"a\" root ~ no text fits it",
        "root ::= \"a\" b\\nb ::= \"b\" root ~ no text fits it",
      })
  void whatIsWrongIsToldWithItsPlace(String grammar, String why) {
    assertThatThrownBy(() -> GrammarsTest.GRAMMARS.gbnf(grammar.replace("\\n", "\n")))
        .isInstanceOf(GrammarRefused.class)
        .hasMessage(why);
  }

  @Test
  void whatIsHugeIsRefused() {
    refuses("root ::= ((\"a\"{2000}){2000}){2000}", "it is too large: more than 60000 steps");
    refuses("root ::= " + "(".repeat(40) + "\"a\"" + ")".repeat(40), "line 1, column 40: groups");
    StringBuilder many = new StringBuilder("root ::= r0\n");
    for (int i = 0; i < Gbnf.RULES_MAX; i++) {
      many.append("r").append(i).append(" ::= \"x\"\n");
    }
    refuses(many.toString(), "line 4001, column 1: there are more than 4000 rules");
    refuses("root ::= \"" + "a".repeat(200_001) + "\"", "it has more than 200000 characters");
  }

  private static void refuses(String grammar, String why) {
    assertThatThrownBy(() -> GrammarsTest.GRAMMARS.gbnf(grammar)).hasMessageContaining(why);
  }

  private static boolean fits(String grammar, String text) {
    Supplier<TokenMask> form = GrammarsTest.GRAMMARS.gbnf(grammar);
    return GrammarsTest.fits(form, text.getBytes(StandardCharsets.UTF_8));
  }
}
