package dev.flotilla.engine.serve;

import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.GgufRefused;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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

  private final ByteArrayOutputStream keys = new ByteArrayOutputStream();
  private long count;

  private LetterModel() {}

  static ServedModel served(Path folder) {
    try {
      Path file = folder.resolve("letters.gguf");
      Files.write(file, new LetterModel().bytes());
      return ServedModel.of("letters", GgufHeader.read(file));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (GgufRefused refused) {
      throw new IllegalStateException(refused);
    }
  }

  private byte[] bytes() {
    List<String> tokens = new ArrayList<>();
    for (int i = 0; i < 256; i++) {
      tokens.add(letter(i));
    }
    tokens.add("<|im_start|>");
    tokens.add("<|im_end|>");
    text("general.architecture", "llama");
    text("tokenizer.ggml.model", "gpt2");
    text("tokenizer.ggml.pre", "smollm");
    texts("tokenizer.ggml.tokens", tokens);
    types(tokens.size());
    texts("tokenizer.ggml.merges", List.of());
    number("tokenizer.ggml.bos_token_id", START);
    number("tokenizer.ggml.eos_token_id", END);
    text("tokenizer.chat_template", TEMPLATE);
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    file.writeBytes("GGUF".getBytes(StandardCharsets.US_ASCII));
    file.writeBytes(little(4).putInt(3).array());
    file.writeBytes(little(8).putLong(0).array());
    file.writeBytes(little(8).putLong(count).array());
    file.writeBytes(keys.toByteArray());
    file.writeBytes(new byte[64]);
    return file.toByteArray();
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

  private void text(String key, String value) {
    head(key, 8);
    string(value);
  }

  private void texts(String key, List<String> values) {
    head(key, 9);
    keys.writeBytes(little(4).putInt(8).array());
    keys.writeBytes(little(8).putLong(values.size()).array());
    values.forEach(this::string);
  }

  private void types(int size) {
    head("tokenizer.ggml.token_type", 9);
    keys.writeBytes(little(4).putInt(5).array());
    keys.writeBytes(little(8).putLong(size).array());
    for (int i = 0; i < size; i++) {
      keys.writeBytes(little(4).putInt(i < START ? 1 : 3).array());
    }
  }

  private void number(String key, int value) {
    head(key, 4);
    keys.writeBytes(little(4).putInt(value).array());
  }

  private void head(String key, int type) {
    count++;
    string(key);
    keys.writeBytes(little(4).putInt(type).array());
  }

  private void string(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    keys.writeBytes(little(8).putLong(bytes.length).array());
    keys.writeBytes(bytes);
  }

  private static ByteBuffer little(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
  }
}
