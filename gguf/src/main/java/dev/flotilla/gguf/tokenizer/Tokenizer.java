package dev.flotilla.gguf.tokenizer;

import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.GgufRefused;
import dev.flotilla.gguf.Metadata;
import dev.flotilla.gguf.StringTable;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * A model's tokenizer, made from the vocabulary in its file: byte-level byte-pair encoding ({@code
 * gpt2}) with the splitters of the known families, and SentencePiece's ({@code llama}, which Llama
 * 1 and 2, Mistral and Gemma have). Token for token what llama.cpp makes of the same file.
 *
 * <p>Time is in proportion to the text, but for the logarithm of the longest word.
 *
 * <p>Immutable: many threads may use one.
 */
public final class Tokenizer {
  private final StringTable texts;
  private final TokenKind[] kinds;
  private final byte[][] pieces;
  private final BitSet ends;
  private final Merger merger;
  private final SpecialTokens withControl;
  private final SpecialTokens withoutControl;
  private final int begin;
  private final int end;
  private final boolean addsBegin;
  private final boolean addsEnd;

  private Tokenizer(GgufHeader header, StringTable texts) throws GgufRefused {
    Metadata metadata = header.metadata();
    this.texts = texts;
    TokenTable tokens = new TokenTable(texts);
    this.kinds = kinds(header, texts.size());
    this.ends = KnownTokens.in(tokens, kinds, metadata).ends();
    boolean bytePairs = metadata.text("tokenizer.ggml.model").orElse("").equals("gpt2");
    this.begin = id(metadata, "bos", bytePairs ? 11 : 1);
    this.end = id(metadata, "eos", bytePairs ? 11 : 2);
    boolean beginsByItself;
    if (bytePairs) {
      Splitters.Family family = family(header);
      this.merger = new BytePairMerger(tokens, header.texts("tokenizer.ggml.merges"), family);
      beginsByItself = family.addsBegin();
    } else {
      this.merger =
          new SentencePieceMerger(
              tokens,
              scores(header, texts.size()),
              metadata.bool("tokenizer.ggml.add_space_prefix").orElse(true),
              Math.max(0, id(metadata, "unknown", 0)));
      beginsByItself = true;
    }
    this.addsBegin = adds(header, "bos", begin, beginsByItself);
    this.addsEnd = adds(header, "eos", end, false);
    this.pieces = pieces(bytePairs);
    try {
      this.withControl = new SpecialTokens(texts, KnownTokens.special(texts, kinds, true));
      this.withoutControl = new SpecialTokens(texts, KnownTokens.special(texts, kinds, false));
    } catch (IllegalArgumentException e) {
      throw new GgufRefused(header.file(), "its vocabulary can't be used: " + e.getMessage());
    }
  }

  /**
   * The tokenizer of a model file.
   *
   * @throws GgufRefused for a file without a vocabulary, a kind of tokenizer or splitter that is
   *     not known, by its name, or a vocabulary that contradicts itself
   */
  public static Tokenizer of(GgufHeader header) throws GgufRefused {
    String kind = header.metadata().text("tokenizer.ggml.model").orElse("");
    if (!kind.equals("gpt2") && !kind.equals("llama")) {
      throw new GgufRefused(
          header.file(),
          kind.isEmpty()
              ? "has no tokenizer"
              : "has the tokenizer '%s'; known are gpt2 and llama"
                  .formatted(GgufRefused.printable(kind)));
    }
    StringTable raw = header.texts("tokenizer.ggml.tokens");
    if (raw.size() == 0) {
      throw new GgufRefused(header.file(), "has no vocabulary");
    }
    StringTable texts = new StringTable();
    for (int i = 0; i < raw.size(); i++) {
      if (raw.length(i) == 0) {
        byte[] placeholder = ("[EMPTY_" + i + "]").getBytes(StandardCharsets.UTF_8);
        texts.add(placeholder, 0, placeholder.length);
      } else {
        texts.add(raw.bytes(), raw.start(i), raw.end(i));
      }
    }
    return new Tokenizer(header, texts);
  }

  private static TokenKind[] kinds(GgufHeader header, int size) throws GgufRefused {
    int[] types = header.ints("tokenizer.ggml.token_type");
    if (types.length > 0 && types.length < size) {
      throw new GgufRefused(
          header.file(), "has %,d tokens and the types of %,d".formatted(size, types.length));
    }
    TokenKind[] kinds = new TokenKind[size];
    Arrays.setAll(kinds, i -> types.length == 0 ? TokenKind.NORMAL : TokenKind.of(types[i]));
    return kinds;
  }

  private static float[] scores(GgufHeader header, int size) throws GgufRefused {
    float[] scores = header.floats("tokenizer.ggml.scores");
    if (scores.length > 0 && scores.length < size) {
      throw new GgufRefused(
          header.file(), "has %,d tokens and the scores of %,d".formatted(size, scores.length));
    }
    return scores.length == 0 ? new float[size] : scores;
  }

  private static Splitters.Family family(GgufHeader header) throws GgufRefused {
    String name = header.metadata().text("tokenizer.ggml.pre").orElse("");
    return Splitters.of(name)
        .orElseThrow(() ->
            new GgufRefused(
                header.file(),
                "its words are cut in the way '%s', which is not known"
                    .formatted(GgufRefused.printable(name))));
  }

  /** A token that the file names, else the usual one where the vocabulary has it, else -1. */
  private int id(Metadata metadata, String name, int usual) {
    OptionalLong named = metadata.integer("tokenizer.ggml." + name + "_token_id");
    if (named.isPresent() && named.getAsLong() >= 0 && named.getAsLong() < texts.size()) {
      return (int) named.getAsLong();
    }
    return usual < texts.size() ? usual : -1;
  }

  private static boolean adds(GgufHeader header, String name, int token, boolean usual)
      throws GgufRefused {
    boolean adds = header.metadata().bool("tokenizer.ggml.add_" + name + "_token").orElse(usual);
    if (adds && token < 0) {
      throw new GgufRefused(
          header.file(), "adds a %s token to texts and names none".formatted(name));
    }
    return adds;
  }

  private byte[][] pieces(boolean bytePairs) {
    byte[][] all = new byte[texts.size()][];
    for (int i = 0; i < all.length; i++) {
      byte[] text = texts.get(i);
      all[i] =
          switch (kinds[i]) {
            case CONTROL, UNKNOWN, USER_DEFINED -> text;
            case UNUSED -> new byte[0];
            case BYTE -> new byte[] {(byte) hex(text)};
            case NORMAL -> bytePairs ? fromLetters(text) : withBlanks(text);
          };
    }
    return all;
  }

  /** The byte that {@code <0xXX>} names. */
  private static int hex(byte[] text) {
    if (text.length != 6) {
      return text[0];
    }
    int high = Character.digit(text[3], 16);
    int low = Character.digit(text[4], 16);
    return high < 0 || low < 0 ? 0 : high << 4 | low;
  }

  private static byte[] fromLetters(byte[] text) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length);
    String letters = new String(text, StandardCharsets.UTF_8);
    for (int i = 0; i < letters.length(); i++) {
      int b = ByteLetters.byteOf(letters.charAt(i));
      if (b >= 0) {
        bytes.write(b);
      } else { // no byte-level text at all: kept as it is written
        return text;
      }
    }
    return bytes.toByteArray();
  }

  private static byte[] withBlanks(byte[] text) {
    return new String(text, StandardCharsets.ISO_8859_1)
        .replace("\u00e2\u0096\u0081", " ") // U+2581 in UTF-8
        .getBytes(StandardCharsets.ISO_8859_1);
  }

  /**
   * The tokens of a text.
   *
   * @param addEnds whether the tokens of a text's begin and end are put around it, as far as the
   *     model wants them
   * @param readControl whether control tokens that stand in the text as they are written, such as
   *     {@code <|im_end|>}, become these tokens: right for a prompt that a template wrote, wrong
   *     for text that a user wrote
   */
  public int[] tokenize(String text, boolean addEnds, boolean readControl) {
    IntList tokens = new IntList();
    if (addEnds && addsBegin) {
      tokens.add(begin);
    }
    byte[] bytes = Utf8.bytes(text);
    boolean[] afterSpecial = {true};
    (readControl ? withControl : withoutControl)
        .cut(
            bytes,
            new SpecialTokens.Parts() {
              @Override
              public void text(int from, int to) {
                merger.tokenize(bytes, from, to, afterSpecial[0], tokens);
                afterSpecial[0] = false;
              }

              @Override
              public void token(int id) {
                tokens.add(id);
                afterSpecial[0] = true;
              }
            });
    if (addEnds && addsEnd) {
      tokens.add(end);
    }
    return tokens.toArray();
  }

  /** Tokens of the vocabulary; they are numbered from 0. */
  public int size() {
    return texts.size();
  }

  /**
   * The bytes that a token stands for, which may be a part of a character; of a control token its
   * name. Not to be changed.
   *
   * @throws IndexOutOfBoundsException for a number that is no token
   */
  public byte[] piece(int token) {
    if (token < 0 || token >= pieces.length) {
      throw new IndexOutOfBoundsException(
          "token %d is none; the vocabulary has %,d, from 0".formatted(token, pieces.length));
    }
    return pieces[token];
  }

  /** What a token is. */
  public TokenKind kind(int token) {
    return kinds[token];
  }

  /** Whether a generation ends with this token. */
  public boolean isEnd(int token) {
    return ends.get(token);
  }

  /** Token of a text's begin, {@code bos_token} of templates. */
  public OptionalInt begin() {
    return begin < 0 ? OptionalInt.empty() : OptionalInt.of(begin);
  }

  /** Token of a text's end, {@code eos_token} of templates. */
  public OptionalInt end() {
    return end < 0 ? OptionalInt.empty() : OptionalInt.of(end);
  }

  /** Whether {@link #tokenize} puts {@link #begin} before a text. */
  public boolean addsBegin() {
    return addsBegin;
  }

  /** Whether {@link #tokenize} puts {@link #end} behind a text. */
  public boolean addsEnd() {
    return addsEnd;
  }

  /** The text of all these tokens; bytes that make no character become U+FFFD. */
  public String text(int[] tokens) {
    Detokenizer detokenizer = new Detokenizer(this, true);
    StringBuilder text = new StringBuilder();
    for (int token : tokens) {
      text.append(detokenizer.next(token));
    }
    return text.append(detokenizer.end()).toString();
  }
}
