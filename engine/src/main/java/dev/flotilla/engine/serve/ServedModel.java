package dev.flotilla.engine.serve;

import dev.flotilla.engine.Pooling;
import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.GgufRefused;
import dev.flotilla.gguf.sandbox.TemplateLimits;
import dev.flotilla.gguf.sandbox.TemplateRefused;
import dev.flotilla.gguf.template.ChatTemplate;
import dev.flotilla.gguf.tokenizer.Tokenizer;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * The model as clients see it: its name, and how its texts become tokens.
 *
 * @param name what clients call it
 * @param template how a conversation becomes a prompt; empty where the file has none
 * @param templateText the template as the file has it
 * @param ends the tokens that end an answer
 * @param longestTokenBytes upper bound of the bytes of one token, 0 where it is not known
 * @param pooling how a vector is made of a text; {@link Pooling#NONE} where the file wants a way
 *     that is not computed
 */
@SuppressWarnings("ArrayRecordComponent") // there is one, and nobody compares it
public record ServedModel(
    String name,
    Tokenizer tokenizer,
    Optional<ChatTemplate> template,
    String templateText,
    int[] ends,
    int longestTokenBytes,
    Pooling pooling) {

  /** llama.cpp's numbers of {@code pooling_type}. */
  private static final int POOLING_NONE = 0;

  private static final int POOLING_MEAN = 1;
  private static final int POOLING_LAST = 3;

  /**
   * The texts of a model file.
   *
   * @throws GgufRefused where its tokenizer or its chat template is not one that can be used
   */
  public static ServedModel of(String name, GgufHeader header) throws GgufRefused {
    return of(name, header, header.metadata().text("tokenizer.chat_template").orElse(""));
  }

  /**
   * The texts of a model file, with another chat template than its own.
   *
   * @throws GgufRefused where its tokenizer or the chat template is not one that can be used
   */
  public static ServedModel of(String name, GgufHeader header, String text) throws GgufRefused {
    Tokenizer tokenizer = Tokenizer.of(header);
    Optional<ChatTemplate> template = Optional.empty();
    if (!text.isEmpty()) {
      try {
        template = Optional.of(ChatTemplate.parse(text, TemplateLimits.DEFAULTS));
      } catch (TemplateRefused refused) {
        throw new GgufRefused(header.file(), "its " + refused.getMessage());
      }
    }
    int[] ends = IntStream.range(0, tokenizer.size()).filter(tokenizer::isEnd).toArray();
    return new ServedModel(
        name, tokenizer, template, text, ends, header.longestTokenBytes(), pooling(header));
  }

  /**
   * Where a file says nothing, llama-server makes no vectors unless it is told how: by the mean.
   */
  private static Pooling pooling(GgufHeader header) {
    long type =
        header.metadata().integer(header.architecture() + ".pooling_type").orElse(POOLING_NONE);
    if (type == POOLING_NONE || type == POOLING_MEAN) {
      return Pooling.MEAN;
    }
    return type == POOLING_LAST ? Pooling.LAST : Pooling.NONE;
  }

  /** The text of a token that templates write by name; empty where the model has none. */
  String named(OptionalInt token) {
    return token.isPresent() ? tokenizer.text(new int[] {token.getAsInt()}) : "";
  }

  /** Whether the model thinks before it answers, and marks its thoughts as most do. */
  boolean thinks() {
    return templateText.contains("</think>");
  }
}
