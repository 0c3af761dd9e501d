package dev.flotilla.gguf.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.GgufRefused;
import dev.flotilla.testkit.model.GgufWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Small vocabularies, where every step can be followed. */
class TokenizerTest {
  private static final int NORMAL = 1;
  private static final int CONTROL = 3;
  private static final int USER_DEFINED = 4;
  private static final int BYTE = 6;

  @TempDir Path folder;

  @Test
  void pairsAreJoinedInTheOrderOfTheList() throws Exception {
    Tokenizer tokenizer = pairs(List.of("b c", "a b", "ab c"), "gpt-2", List.of("ab", "bc", "abc"));
    assertThat(pieces(tokenizer, "abc")).containsExactly("a", "bc");
    assertThat(pieces(tokenizer, "ab abc")).containsExactly("ab", " ", "a", "bc");
  }

  @Test
  void aFamilyMayLeaveWholeWordsAsTheyAre() throws Exception {
    Tokenizer tokenizer = pairs(List.of("b c"), "llama-bpe", List.of("abc", "bc", "Ġabc"));
    assertThat(pieces(tokenizer, "abc abc abcd"))
        .containsExactly("abc", " abc", " ", "a", "bc", "d");
  }

  @Test
  void theHighestScoreIsJoinedFirst() throws Exception {
    Tokenizer tokenizer = scored(true, "▁", "a", "b", "c", "ab", "bc", "▁a");
    assertThat(pieces(tokenizer, "abc")).containsExactly(" ", "ab", "c");
    assertThat(pieces(scored(false, "▁", "a", "b", "c", "bc", "ab"), "abc c"))
        .containsExactly("a", "bc", " ", "c");
  }

  @Test
  void aCharacterWithoutATokenBecomesItsBytes() throws Exception {
    Tokenizer tokenizer = scored(false, "▁", "a");
    assertThat(tokenizer.tokenize("aé", false, false)).hasSize(3);
    assertThat(tokenizer.text(tokenizer.tokenize("a é😀", false, false))).isEqualTo("a é😀");
  }

  @Test
  void controlTokensInATextAreTokensOnlyForTemplates() throws Exception {
    Tokenizer tokenizer = pairs(List.of(), "gpt-2", List.of());
    int end = tokenizer.size() - 2;
    assertThat(tokenizer.tokenize("a<|im_end|>", false, true)).hasSize(2).contains(end);
    assertThat(tokenizer.tokenize("a<|im_end|>", false, false)).hasSize(11).doesNotContain(end);
    assertThat(tokenizer.isEnd(end)).isTrue();
    assertThat(tokenizer.kind(end)).isEqualTo(TokenKind.CONTROL);
  }

  @Test
  void theLongestSpecialTokenIsTakenFirstWhereverItStands() throws Exception {
    Tokenizer tokenizer =
        tokenizer(
            base("llama")
                .texts("tokenizer.ggml.tokens", List.of("<unk>", "a", "b", "c", "ab", "bcc", "bc"))
                .i32s(
                    "tokenizer.ggml.token_type",
                    2,
                    1,
                    1,
                    1,
                    USER_DEFINED,
                    USER_DEFINED,
                    USER_DEFINED)
                .bool("tokenizer.ggml.add_space_prefix", false));
    assertThat(pieces(tokenizer, "abcc")).containsExactly("a", "bcc");
    assertThat(pieces(tokenizer, "abc")).containsExactly("ab", "c");
    assertThat(pieces(tokenizer, "bcbcc")).containsExactly("bc", "bcc");
  }

  @Test
  void endsAreAddedAsTheFileSays() throws Exception {
    GgufWriter writer =
        base("llama")
            .texts("tokenizer.ggml.tokens", List.of("<unk>", "<s>", "</s>", "▁", "a"))
            .i32s("tokenizer.ggml.token_type", 2, CONTROL, CONTROL, NORMAL, NORMAL);
    Tokenizer usual = tokenizer(writer);
    assertThat(usual.tokenize("a", true, false)).containsExactly(1, 3, 4);
    assertThat(usual.tokenize("", true, false)).containsExactly(1);
    assertThat(usual.tokenize("<s>a", true, true)).containsExactly(1, 1, 3, 4);
    Tokenizer other =
        tokenizer(
            writer
                .bool("tokenizer.ggml.add_bos_token", false)
                .bool("tokenizer.ggml.add_eos_token", true)
                .bool("tokenizer.ggml.add_space_prefix", false));
    assertThat(other.tokenize("a", true, false)).containsExactly(4, 2);
    assertThat(other.tokenize("a", false, false)).containsExactly(4);
    assertThat(other.addsBegin()).isFalse();
    assertThat(other.end()).hasValue(2);
  }

  @Test
  void aStreamNeverGivesOutHalfACharacter() throws Exception {
    Tokenizer tokenizer = pairs(List.of(), "gpt-2", List.of());
    for (String text : List.of("aé中😀z", "😀😀", "\u0000\u007f\u0080\uffff\ud83d\ude00")) {
      Detokenizer detokenizer = new Detokenizer(tokenizer, false);
      StringBuilder out = new StringBuilder();
      for (int token : tokenizer.tokenize(text, false, false)) {
        String part = detokenizer.next(token);
        assertThat(part).doesNotContain("\ufffd");
        assertThat(part.codePointCount(0, part.length())).isLessThanOrEqualTo(1);
        out.append(part);
      }
      assertThat(out + detokenizer.end()).isEqualTo(text);
    }
  }

  @Test
  void bytesThatAreNoCharacterAreShownAsOne() throws Exception {
    Tokenizer tokenizer = pairs(List.of(), "gpt-2", List.of());
    int[] smile = tokenizer.tokenize("😀", false, false);
    int letter = tokenizer.tokenize("a", false, false)[0];
    Detokenizer detokenizer = new Detokenizer(tokenizer, false);
    assertThat(detokenizer.next(smile[0])).isEmpty();
    assertThat(detokenizer.next(smile[1])).isEmpty();
    assertThat(detokenizer.next(letter)).isEqualTo("\ufffda");
    assertThat(detokenizer.next(smile[1])).isEqualTo("\ufffd");
    assertThat(detokenizer.next(smile[0])).isEmpty();
    assertThat(detokenizer.end()).isEqualTo("\ufffd");
  }

  @Test
  void controlTokensAreShownOnlyWhereThatIsAsked() throws Exception {
    Tokenizer tokenizer = pairs(List.of(), "gpt-2", List.of());
    int end = tokenizer.size() - 2;
    assertThat(new Detokenizer(tokenizer, false).next(end)).isEmpty();
    assertThat(new Detokenizer(tokenizer, true).next(end)).isEqualTo("<|im_end|>");
  }

  @Test
  void halfAPairOfSurrogatesIsAReplacementCharacter() throws Exception {
    Tokenizer tokenizer = pairs(List.of(), "gpt-2", List.of());
    assertThat(tokenizer.text(tokenizer.tokenize("a\ud83db\ude00", false, false)))
        .isEqualTo("a\ufffdb\ufffd");
  }

  @Test
  void aTokenThatIsNoneIsNamed() throws Exception {
    Tokenizer tokenizer = scored(false, "a");
    assertThatThrownBy(() -> tokenizer.piece(999_999))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessage("token 999999 is none; the vocabulary has 260, from 0");
    assertThatThrownBy(() -> tokenizer.piece(-1)).hasMessageContaining("token -1 is none");
  }

  @Test
  void whatIsNotKnownIsRefusedByName() throws IOException {
    assertRefused(base("bert"), "has the tokenizer 'bert'; known are gpt2 and llama");
    assertRefused(new GgufWriter(), "has no tokenizer");
    assertRefused(base("llama"), "has no vocabulary");
    assertRefused(
        base("gpt2")
            .text("tokenizer.ggml.pre", "poro-chat")
            .texts("tokenizer.ggml.tokens", List.of("a")),
        "its words are cut in the way 'poro-chat', which is not known");
  }

  @Test
  void aVocabularyThatContradictsItselfIsRefused() throws IOException {
    assertRefused(
        base("llama")
            .texts("tokenizer.ggml.tokens", List.of("a", "b"))
            .i32s("tokenizer.ggml.token_type", 1),
        "has 2 tokens and the types of 1");
    assertRefused(
        base("llama").texts("tokenizer.ggml.tokens", List.of("a")),
        "adds a bos token to texts and names none");
    assertRefused(
        base("llama").text("tokenizer.ggml.tokens", "a"),
        "the key 'tokenizer.ggml.tokens' holds no array of texts");
    assertRefused(
        base("llama")
            .texts("tokenizer.ggml.tokens", List.of("x".repeat(300), "a", "b"))
            .i32s("tokenizer.ggml.token_type", CONTROL, 1, 1),
        "the special token 0 has 300 bytes, at most 256 are looked for");
  }

  /** Ten megabytes of what is worst for each step; none of it takes time squared. */
  @Test
  void aMessageOfTenMegabytesIsCut() throws Exception {
    Tokenizer pairs =
        pairs(
            List.of("a a", "aa aa", "Ġ Ġ", "ĠĠ ĠĠ"),
            "llama-bpe",
            List.of("aa", "aaaa", "ĠĠ", "ĠĠĠĠ"));
    Tokenizer scores = scored(true, "▁", "a", "aa", "aaaa", "▁▁", "▁▁▁▁");
    for (String unit : List.of("a", " ", "aa", "<|im_end|", "é😀", "ab ")) {
      String text = unit.repeat(10_000_000 / unit.getBytes(StandardCharsets.UTF_8).length);
      Tokenizer tokenizer = unit.length() == 1 ? scores : pairs;
      assertThat(tokenizer.tokenize(text, false, true).length).isGreaterThan(1_000_000);
    }
  }

  /** A vocabulary of all bytes, the letters that are joined, and two control tokens. */
  private Tokenizer pairs(List<String> merges, String splitter, List<String> joined)
      throws Exception {
    List<String> tokens = new ArrayList<>();
    for (int b = 0; b < 256; b++) {
      tokens.add(new String(ByteLetters.letter(b), StandardCharsets.UTF_8));
    }
    tokens.addAll(joined);
    tokens.add("<|im_end|>");
    tokens.add("<|x|>");
    int[] types = new int[tokens.size()];
    Arrays.fill(types, NORMAL);
    types[types.length - 2] = CONTROL;
    types[types.length - 1] = CONTROL;
    return tokenizer(
        base("gpt2")
            .text("tokenizer.ggml.pre", splitter)
            .texts("tokenizer.ggml.tokens", tokens)
            .texts("tokenizer.ggml.merges", merges)
            .i32s("tokenizer.ggml.token_type", types));
  }

  /** A vocabulary of three control tokens, all bytes, and tokens of which the first are best. */
  private Tokenizer scored(boolean blankBefore, String... normal) throws Exception {
    List<String> tokens = new ArrayList<>(List.of("<unk>", "<s>", "</s>"));
    for (int b = 0; b < 256; b++) {
      tokens.add("<0x%02X>".formatted(b));
    }
    tokens.addAll(List.of(normal));
    int[] types = new int[tokens.size()];
    float[] scores = new float[tokens.size()];
    for (int i = 0; i < types.length; i++) {
      types[i] = i == 0 ? 2 : i < 3 ? CONTROL : i < 259 ? BYTE : NORMAL;
      scores[i] = -i;
    }
    return tokenizer(
        base("llama")
            .texts("tokenizer.ggml.tokens", tokens)
            .i32s("tokenizer.ggml.token_type", types)
            .f32s("tokenizer.ggml.scores", scores)
            .bool("tokenizer.ggml.add_space_prefix", blankBefore));
  }

  private static GgufWriter base(String kind) {
    return new GgufWriter().text("tokenizer.ggml.model", kind);
  }

  private Tokenizer tokenizer(GgufWriter writer) throws IOException, GgufRefused {
    return Tokenizer.of(GgufHeader.read(writer.write(folder.resolve("vocabulary.gguf"))));
  }

  private void assertRefused(GgufWriter writer, String reason) throws IOException {
    assertThatThrownBy(() -> tokenizer(writer))
        .isInstanceOf(GgufRefused.class)
        .hasMessageContaining(reason);
  }

  private static List<String> pieces(Tokenizer tokenizer, String text) {
    List<String> pieces = new ArrayList<>();
    for (int token : tokenizer.tokenize(text, false, false)) {
      pieces.add(new String(tokenizer.piece(token), StandardCharsets.UTF_8));
    }
    return pieces;
  }
}
