package dev.flotilla.shape.request;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.request.EngineRequest.Place;
import java.util.OptionalLong;

/**
 * The longest answer. OpenAI's {@code max_completion_tokens} goes before {@code max_tokens}, and
 * llama.cpp's -1 means no limit. vLLM refuses a limit above its context, where others stop at its
 * end; mlx-lm stops at 512 tokens where nothing is said, and never looks at the context.
 */
final class AnswerLimit implements RequestDifference {
  @Override
  public void edit(Asked asked, Place place, BodyEdits edits) {
    OptionalLong wanted = asked.scanned().maxTokens();
    long most =
        switch (place.dialect()) {
          case VLLM -> place.contextTokens();
          case MLX_LM -> Math.max(1, place.contextTokens() - place.promptTokens());
          case LLAMA_SERVER, BUILTIN, UNKNOWN -> 0;
        };
    boolean bounded = place.contextTokens() > 0 && most > 0;
    if (bounded && (place.dialect() == Dialect.MLX_LM || wanted.orElse(0) > most)) {
      set(Math.min(wanted.orElse(most), most), edits);
    } else if (wanted.isEmpty()
        && place.dialect() != Dialect.LLAMA_SERVER
        && place.dialect() != Dialect.UNKNOWN) {
      edits.drop("max_tokens");
      edits.drop("max_completion_tokens");
    }
  }

  private static void set(long tokens, BodyEdits edits) {
    edits.drop("max_completion_tokens");
    edits.set("max_tokens", Long.toString(tokens));
  }
}
