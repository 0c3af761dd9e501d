package dev.flotilla.wire.openai;

import java.util.Set;

/**
 * What a request may hand to a chat template beside its messages ({@code chat_template_kwargs}).
 */
public final class TemplateArguments {
  /**
   * What a chat template is called with anyway, or what its caller does with the text: a client
   * that set them would meddle with the engine, not with the template. {@code return_tensors} kills
   * mlx-lm.
   */
  private static final Set<String> THE_ENGINES =
      Set.of(
          "add_generation_prompt",
          "chat_template",
          "continue_final_message",
          "conversation",
          "max_length",
          "messages",
          "padding",
          "return_assistant_tokens_mask",
          "return_dict",
          "return_tensors",
          "tokenize",
          "tokenizer_kwargs",
          "tools",
          "truncation");

  private TemplateArguments() {}

  /** Whether a client may give an argument of this name. */
  public static boolean mayBeGiven(String name) {
    return !THE_ENGINES.contains(name);
  }
}
