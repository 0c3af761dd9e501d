package dev.flotilla.bench.dataset;

import dev.flotilla.bench.dataset.AgentPrompts.Conversation;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Makes agents' conversations as large as a server's context allows: system messages and tool
 * results shrink, until the longest conversation and its answer fit; how many messages there are,
 * by whom and in what order, stays.
 */
final class AgentSize {
  /** What a template writes around one message, and around a call in it. */
  private static final int MESSAGE_TOKENS = 12;

  /** Where nobody counts: less than any tokenizer that we have seen puts into a token. */
  private static final double CHARS_A_TOKEN = 2.8;

  private static final int LONGEST_COUNTED = 4;
  private static final int STEPS = 7;

  private final Optional<Tokenizer> tokenizer;

  /**
   * @param tokenizer where counting costs next to nothing; else tokens are estimated, generously
   */
  AgentSize(Optional<Tokenizer> tokenizer) {
    this.tokenizer = tokenizer;
  }

  /**
   * What was made.
   *
   * @param scale of the full size, up to 1
   */
  record Fitted(List<Conversation> conversations, double scale) {}

  /**
   * The largest conversations that fit.
   *
   * @throws DatasetRefused where not even the smallest do
   */
  Fitted fit(int count, long seed, int context, int outputTokens) throws DatasetRefused {
    List<Conversation> whole = AgentPrompts.conversations(count, seed, 1);
    int room = context - outputTokens;
    try {
      if (context == 0 || tokens(whole) <= room) {
        return new Fitted(whole, 1);
      }
      List<Conversation> fitting = AgentPrompts.conversations(count, seed, 0);
      int least = tokens(fitting);
      if (least > room) {
        throw DatasetRefused.usage(
            "--max-context: agents' conversations need a context of at least %d tokens for answers of %d, not %d"
                .formatted(least + outputTokens, outputTokens, context));
      }
      double low = 0;
      double high = 1;
      for (int i = 0; i < STEPS; i++) {
        double middle = (low + high) / 2;
        List<Conversation> tried = AgentPrompts.conversations(count, seed, middle);
        if (tokens(tried) <= room) {
          low = middle;
          fitting = tried;
        } else {
          high = middle;
        }
      }
      return new Fitted(fitting, low);
    } catch (IOException e) {
      throw DatasetRefused.failed(
          "the conversations' tokens can't be counted: " + e.getMessage(), e);
    }
  }

  /** Tokens of the longest one, with what a template adds. */
  private int tokens(List<Conversation> conversations) throws IOException {
    int most = 0;
    List<Conversation> longest =
        conversations.stream()
            .sorted(Comparator.comparingInt(Conversation::chars).reversed())
            .limit(LONGEST_COUNTED)
            .toList();
    for (Conversation conversation : longest) {
      String rendered = conversation.rendered();
      int tokens =
          tokenizer.isPresent()
              ? tokenizer.get().count(rendered)
              : (int) Math.ceil(rendered.length() / CHARS_A_TOKEN);
      most = Math.max(most, tokens + MESSAGE_TOKENS * conversation.messages().size());
    }
    return most;
  }
}
