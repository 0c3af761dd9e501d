package dev.flotilla.engine.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.engine.kernel.Workers;
import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.testkit.SmallModel;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Along llama.cpp's own greedy text, fed token by token, this engine says what llama.cpp says.
 * Where its two likeliest tokens are within 0.2 nat either may be first: rounding decides there.
 *
 * <p>Activations of eight bits round anew after every change in the last bit, so this small model
 * has a floor below which two right answers do not come: llama.cpp with flash attention differs
 * from llama.cpp without by 0.116 nat on average and 0.81 at most on these prompts, this engine
 * from either by 0.113 and 0.87, and by 0.110 and 0.85 with activations in single precision. The
 * limits are that floor with a margin.
 */
class LlamaParityTest {
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

  @Test
  void smolLm2SaysWhatLlamaCppSays() throws Exception {
    Difference difference = compare(SmallModel.gguf());
    assertThat(difference.wrongChoices)
        .as("first choices of %d that are another's", PROMPTS.size() * TOKENS)
        .isLessThanOrEqualTo(6);
    assertThat(difference.sum / difference.count).as("mean difference in nat").isLessThan(0.15);
    assertThat(difference.largest).as("largest difference in nat").isLessThan(1.2);
  }

  private static final class Difference {
    int wrongChoices;
    int count;
    double sum;
    double largest;
  }

  private static Difference compare(Path file) throws Exception {
    Difference difference = new Difference();
    try (LlamaReference reference = new LlamaReference(file);
        Workers workers = new Workers(2);
        LoadedModel model = LoadedModel.load(GgufHeader.read(file), workers);
        Transformer runner = new Transformer(model, KvType.F16, 16, 32, workers)) {
      for (String prompt : PROMPTS) {
        List<Integer> tokens = reference.tokens(prompt);
        List<LlamaReference.Step> steps = reference.greedy(tokens, TOKENS);
        Conversation conversation = new Conversation(runner);
        float[] logits = conversation.say(tokens);
        for (LlamaReference.Step step : steps) {
          add(difference, step, logits);
          logits = conversation.say(List.of(step.chosen()));
        }
      }
    }
    return difference;
  }

  private static void add(Difference difference, LlamaReference.Step step, float[] logits) {
    double normaliser = Conversation.normaliser(logits);
    for (LlamaReference.Likely likely : step.likely()) {
      double off = Math.abs(logits[likely.token()] - normaliser - likely.logProbability());
      difference.sum += off;
      difference.count++;
      difference.largest = Math.max(difference.largest, off);
    }
    List<LlamaReference.Likely> likely = step.likely();
    double margin = likely.get(0).logProbability() - likely.get(1).logProbability();
    if (Conversation.best(logits) != step.chosen() && margin > NEAR_TIE) {
      difference.wrongChoices++;
    }
  }
}
