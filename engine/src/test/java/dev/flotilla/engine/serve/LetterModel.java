package dev.flotilla.engine.serve;

import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.GgufRefused;
import dev.flotilla.testkit.model.GgufWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A model file without weights: its tokens are single bytes and the marks of turns. */
final class LetterModel {
  static final int START = 256;
  static final int END = 257;

  private static final String TEMPLATE =
      """
      {%- if tools %}<|im_start|>system
      <tool_call>{{ tools | tojson }}<|im_end|>
      {% endif %}{% for m in messages %}<|im_start|>{{ m.role }}
      {{ m.content }}<|im_end|>
      {% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
      {% endif %}{# </think> #}\
      """;

  private LetterModel() {}

  static ServedModel served(Path folder) {
    return served(folder, TEMPLATE);
  }

  /** With a chat template of the test's own. */
  static ServedModel served(Path folder, String template) {
    try {
      Path file = writer().write(folder.resolve("letters.gguf"));
      return ServedModel.of("letters", GgufHeader.read(file), template);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (GgufRefused refused) {
      throw new IllegalStateException(refused);
    }
  }

  private static GgufWriter writer() {
    List<String> tokens = new ArrayList<>();
    for (int i = 0; i < 256; i++) {
      tokens.add(letter(i));
    }
    tokens.add("<|im_start|>");
    tokens.add("<|im_end|>");
    int[] kinds = new int[tokens.size()];
    Arrays.setAll(kinds, token -> token < START ? 1 : 3);
    return new GgufWriter()
        .text("general.architecture", "llama")
        .text("tokenizer.ggml.model", "gpt2")
        .text("tokenizer.ggml.pre", "smollm")
        .texts("tokenizer.ggml.tokens", tokens)
        .i32s("tokenizer.ggml.token_type", kinds)
        .texts("tokenizer.ggml.merges", List.of())
        .u32("tokenizer.ggml.bos_token_id", START)
        .u32("tokenizer.ggml.eos_token_id", END);
  }

  /** GPT-2's letters for bytes. */
  private static String letter(int b) {
    boolean itself = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
    if (itself) {
      return Character.toString(b);
    }
    int place = b <= 0x20 ? b : b <= 0xA0 ? b - 0x7F + 33 : 67;
    return Character.toString(256 + place);
  }
}
