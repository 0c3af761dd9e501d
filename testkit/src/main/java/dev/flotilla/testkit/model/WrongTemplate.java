package dev.flotilla.testkit.model;

import dev.flotilla.testkit.real.SmallModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Chat templates that are not the {@link SmallModel}'s: those of other families, each whole and
 * without the part that makes it the assistant's turn, and the model's own kind with one thing
 * wrong.
 */
public final class WrongTemplate {
  /** How many there are. */
  public static final int COUNT = 20;

  /**
   * How a family writes a chat.
   *
   * @param before what stands before each message; {@code ROLE} is its role
   * @param after what stands behind it
   * @param turn what makes it the assistant's turn
   */
  private record Frame(String before, String after, String turn) {}

  private static final List<Frame> FAMILIES =
      List.of(
          new Frame("<|start_header_id|>ROLE<|end_header_id|>\\n\\n", "<|eot_id|>", ""),
          new Frame("<start_of_turn>ROLE\\n", "<end_of_turn>\\n", "<start_of_turn>model\\n"),
          new Frame("[INST] ", " [/INST]", ""),
          new Frame("<|ROLE|>\\n", "</s>\\n", "<|assistant|>\\n"),
          new Frame("### ROLE:\\n", "\\n\\n", "### Response:\\n"),
          new Frame("ROLE: ", "\\n", "ASSISTANT: "),
          new Frame("<|ROLE|>", "<|end|>", "<|assistant|>"),
          new Frame("Below is what was asked.\\n", "\\n", "Answer: "));

  /** ChatML, as the model was trained on it, with one thing wrong. */
  private static final List<Frame> OWN_KIND =
      List.of(
          new Frame("<|im_start|>ROLE\\n", "<|im_end|>\\n", ""),
          new Frame("<|im_start|>ROLE ", "<|im_end|>", "<|im_start|>assistant "),
          new Frame("<|im_end|>ROLE\\n", "<|im_start|>\\n", "<|im_end|>assistant\\n"),
          new Frame("<|im_start|>ROLE\\n", "<|im_end|>\\n", "<|im_start|>user\\n"));

  private WrongTemplate() {}

  /**
   * Writes one of them to a file.
   *
   * @param number from 0 to {@link #COUNT} - 1
   */
  public static Path write(Path to, int number) throws IOException {
    int families = FAMILIES.size();
    if (number >= 2 * families) {
      return Files.writeString(to, jinja(OWN_KIND.get(number - 2 * families)));
    }
    Frame whole = FAMILIES.get(number % families);
    // Those without a word for the assistant's turn get one that no model expects.
    Frame cut = new Frame(whole.before(), whole.after(), whole.turn().isEmpty() ? "\\n>" : "");
    return Files.writeString(to, jinja(number < families ? whole : cut));
  }

  /** Whether it has marks that other families know as one token, and the model as several. */
  public static boolean hasMarksOfAnotherFamily(int number) {
    int families = FAMILIES.size();
    return number < 2 * families && number % families < 2;
  }

  private static String jinja(Frame frame) {
    return "{%- for message in messages -%}"
        + "{{- '"
        + frame.before().replace("ROLE", "' + message['role'] + '")
        + "' + message['content'] + '"
        + frame.after()
        + "' -}}"
        + "{%- endfor -%}"
        + "{%- if add_generation_prompt -%}{{- '"
        + frame.turn()
        + "' -}}{%- endif -%}";
  }
}
