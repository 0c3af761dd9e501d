package dev.flotilla.gguf.tokenizer;

import dev.flotilla.gguf.Metadata;
import dev.flotilla.gguf.StringTable;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Tokens that are known by their text. Many files mark the end of a turn as ordinary text, or name
 * one end where a model uses several; llama.cpp goes by the texts, and so does this (source: {@code
 * llama_vocab::impl::load}).
 */
final class KnownTokens {
  private static final Set<String> ENDS =
      Set.of(
          "<|eot_id|>",
          "<|im_end|>",
          "<|end|>",
          "<|return|>",
          "<|call|>",
          "<|flush|>",
          "<|calls|>",
          "<end_of_turn>",
          "<|endoftext|>",
          "</s>",
          "<|eom_id|>",
          "<EOT>",
          "_<EOT>",
          "[EOT]",
          "[EOS]",
          "<|end_of_text|>",
          "<end_of_utterance>",
          "<eos>",
          "<turn|>",
          "<|tool_response>",
          "<｜end▁of▁sentence｜>",
          "[e~[");

  /** Fillers of code, which end a text where they stand outside of one. */
  private static final Set<String> CODE_ENDS =
      Set.of(
          "<|fim_pad|>",
          "<fim-pad>",
          "<fim_pad>",
          "<PAD>",
          "[PAD]",
          "<|fim_repo|>",
          "<|repo_name|>",
          "<fim-repo>",
          "<REPO>",
          "<reponame>",
          "<|file_sep|>");

  private static final Set<String> CODE_MARKS =
      Set.of(
          "<|fim_prefix|>",
          "<fim-prefix>",
          "<fim_prefix>",
          "<｜fim▁begin｜>",
          "<PRE>",
          "▁<PRE>",
          "<|code_prefix|>",
          "<|prefix|>",
          "<|fim_suffix|>",
          "<fim-suffix>",
          "<fim_suffix>",
          "<｜fim▁hole｜>",
          "<SUF>",
          "▁<SUF>",
          "<|code_suffix|>",
          "<|suffix|>",
          "<|fim_middle|>",
          "<fim-middle>",
          "<fim_middle>",
          "<｜fim▁end｜>",
          "<MID>",
          "▁<MID>",
          "<|code_middle|>",
          "<|middle|>");

  /** Always shown: a model's channels are read from them. */
  private static final Set<String> SHOWN =
      Set.of("<|channel|>", "<|message|>", "<|start|>", "<|constrain|>");

  private final TokenTable tokens;
  private final TokenKind[] kinds;
  private final BitSet ends = new BitSet();

  private KnownTokens(TokenTable tokens, TokenKind[] kinds) {
    this.tokens = tokens;
    this.kinds = kinds;
  }

  /** Puts the kinds of known tokens right, and finds those that end a generation. */
  static KnownTokens in(TokenTable tokens, TokenKind[] kinds, Metadata metadata) {
    KnownTokens known = new KnownTokens(tokens, kinds);
    for (Set<String> names : List.of(ENDS, CODE_ENDS, CODE_MARKS)) {
      for (String name : names) {
        known.find(name).ifPresent(id -> kinds[id] = TokenKind.CONTROL);
      }
    }
    for (Set<String> names : List.of(ENDS, CODE_ENDS)) {
      names.forEach(name -> known.find(name).ifPresent(known.ends::set));
    }
    for (String name : SHOWN) {
      known.find(name).ifPresent(id -> kinds[id] = TokenKind.USER_DEFINED);
    }
    for (String key : List.of("eos", "eot", "eom")) {
      OptionalLong id = metadata.integer("tokenizer.ggml." + key + "_token_id");
      if (id.isPresent() && id.getAsLong() >= 0 && id.getAsLong() < kinds.length) {
        known.ends.set((int) id.getAsLong());
      }
    }
    known.leaveOut();
    return known;
  }

  /** Texts that end nothing where certain others are there. */
  private void leaveOut() {
    boolean call = find("<|call|>").isPresent() || find("<|calls|>").isPresent();
    if (call && (find("<|return|>").isPresent() || find("<|flush|>").isPresent())) {
      leaveOut("<|end|>", TokenKind.USER_DEFINED);
    }
    if (find("<|tool_response>").isPresent()) {
      leaveOut("</s>", TokenKind.NORMAL);
    }
  }

  private void leaveOut(String name, TokenKind kind) {
    find(name)
        .ifPresent(id -> {
          ends.clear(id);
          kinds[id] = kind;
        });
  }

  private OptionalInt find(String name) {
    int id = tokens.find(name.getBytes(StandardCharsets.UTF_8));
    return id == TokenTable.NONE ? OptionalInt.empty() : OptionalInt.of(id);
  }

  /** Tokens after which nothing comes. */
  BitSet ends() {
    return ends;
  }

  /** Tokens that are looked for in a text before anything is merged. */
  static List<Integer> special(StringTable texts, TokenKind[] kinds, boolean control) {
    return IntStream.range(0, texts.size())
        .filter(id ->
            kinds[id] == TokenKind.USER_DEFINED
                || (control && (kinds[id] == TokenKind.CONTROL || kinds[id] == TokenKind.UNKNOWN)))
        .boxed()
        .toList();
  }
}
