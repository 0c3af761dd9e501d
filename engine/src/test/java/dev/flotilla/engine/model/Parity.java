package dev.flotilla.engine.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.engine.kernel.Workers;
import dev.flotilla.gguf.GgufHeader;
import java.nio.file.Path;
import java.util.List;

/**
 * How far this engine is from llama.cpp: along llama.cpp's own greedy text over ten prompts, fed
 * token by token, the log-probabilities of its twenty likeliest tokens, and the first choice.
 *
 * @param tokens that were compared
 * @param wrongChoices first choices that are another's, though llama.cpp's two likeliest tokens are
 *     more than {@link #NEAR_TIE} apart
 * @param mean difference of log-probabilities, in nat
 * @param largest of these differences
 */
record Parity(int tokens, int wrongChoices, double mean, double largest) {
  private static final List<String> PROMPTS =
      List.of(
          "The capital of France is",
          "Once upon a time there was a small boat that",
          "def fibonacci(n):\n    ",
          "Water boils at a temperature of",
          "The three primary colours are",
          "Dear Sir or Madam,\n\nI am writing to",
          "1, 2, 3, 4, 5,",
          "In the year 1969, people",
          "To make bread you need flour,",
          "Photosynthesis is the process by which");
  private static final int TOKENS = 64;
  private static final double NEAR_TIE = 0.2;

  static Parity of(Path file) throws Exception {
    Sum sum = new Sum();
    try (LlamaReference reference = new LlamaReference(file, "--flash-attn", "off");
        Workers workers = new Workers(1);
        LoadedModel model = LoadedModel.load(GgufHeader.read(file), workers);
        Transformer runner = new Transformer(model, KvType.F16, 16, 32, workers)) {
      for (String prompt : PROMPTS) {
        List<Integer> tokens = reference.tokens(prompt);
        List<LlamaReference.Step> steps = reference.greedy(tokens, TOKENS);
        Conversation conversation = new Conversation(runner);
        float[] logits = conversation.say(tokens);
        for (LlamaReference.Step step : steps) {
          sum.add(step, logits);
          logits = conversation.say(List.of(step.chosen()));
        }
      }
    }
    return new Parity(sum.tokens, sum.wrongChoices, sum.all / sum.count, sum.largest);
  }

  /** Fails where it is more than that. */
  void isWithin(int wrongChoicesMax, double meanMax, double largestMax) {
    assertThat(this)
        .as("wrong choices, mean and largest difference in nat")
        .matches(
            parity ->
                parity.wrongChoices <= wrongChoicesMax
                    && parity.mean <= meanMax
                    && parity.largest <= largestMax,
            "at most %d, %s and %s".formatted(wrongChoicesMax, meanMax, largestMax));
  }

  private static final class Sum {
    private int tokens;
    private int wrongChoices;
    private int count;
    private double all;
    private double largest;

    private void add(LlamaReference.Step step, float[] logits) {
      tokens++;
      double normaliser = Conversation.normaliser(logits);
      for (LlamaReference.Likely likely : step.likely()) {
        double off = Math.abs(logits[likely.token()] - normaliser - likely.logProbability());
        all += off;
        count++;
        largest = Math.max(largest, off);
      }
      List<LlamaReference.Likely> likely = step.likely();
      double margin = likely.get(0).logProbability() - likely.get(1).logProbability();
      if (Conversation.best(logits) != likely.get(0).token() && margin > NEAR_TIE) {
        wrongChoices++;
      }
    }
  }
}
