package dev.flotilla.shape.reply;

/**
 * What a reply calls itself. mlx-lm's chunk with the usage calls itself {@code chat.completion},
 * whatever was asked.
 */
final class ObjectNames {
  private ObjectNames() {}

  static String chunk(ReplyForm form) {
    return form.chat() ? "chat.completion.chunk" : "text_completion";
  }

  static String whole(ReplyForm form) {
    return form.chat() ? "chat.completion" : "text_completion";
  }
}
