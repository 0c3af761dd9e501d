package dev.flotilla.engine.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.engine.kernel.Workers;
import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.tokenizer.Tokenizer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

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
  private static final int LIKELY = 20;

  /** Prompts of {@link #ofItself}: a mean needs no more. */
  private static final int FEW = 4;

  private static final double NEAR_TIE = 0.2;

  static Parity of(Path file) throws Exception {
    Sum sum = new Sum();
    try (LlamaReference reference = new LlamaReference(file, "--flash-attn", "off");
        Workers workers = new Workers(1);
        LoadedModel model = LoadedModel.load(ModelOutline.of(GgufHeader.read(file)), workers);
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

  /**
   * The same of this engine beside itself: along its own greedy text of a file, what it says of
   * another file, which is the same model but for rounding.
   */
  static Parity ofItself(Path file, Path other) throws Exception {
    Sum sum = new Sum();
    Tokenizer tokenizer = Tokenizer.of(GgufHeader.read(file));
    try (Workers workers = new Workers(1);
        LoadedModel model = LoadedModel.load(ModelOutline.of(GgufHeader.read(file)), workers);
        LoadedModel otherModel =
            LoadedModel.load(ModelOutline.of(GgufHeader.read(other)), workers);
        Transformer runner = new Transformer(model, KvType.F16, 16, 32, workers);
        Transformer otherRunner = new Transformer(otherModel, KvType.F16, 16, 32, workers)) {
      for (String prompt : PROMPTS.subList(0, FEW)) {
        Conversation conversation = new Conversation(runner);
        Conversation beside = new Conversation(otherRunner);
        List<Integer> said =
            Arrays.stream(tokenizer.tokenize(prompt, true, false)).boxed().toList();
        for (int i = 0; i < TOKENS; i++) {
          LlamaReference.Step step = step(conversation.say(said));
          sum.add(step, beside.say(said));
          said = List.of(step.chosen());
        }
      }
    }
    return new Parity(sum.tokens, sum.wrongChoices, sum.all / sum.count, sum.largest);
  }

  private static LlamaReference.Step step(float[] logits) {
    double normaliser = Conversation.normaliser(logits);
    float[] sorted = logits.clone();
    Arrays.sort(sorted);
    float least = sorted[sorted.length - LIKELY];
    List<LlamaReference.Likely> likely =
        IntStream.range(0, logits.length)
            .filter(token -> logits[token] >= least)
            .mapToObj(token -> new LlamaReference.Likely(token, logits[token] - normaliser))
            .sorted(Comparator.comparingDouble(LlamaReference.Likely::logProbability).reversed())
            .toList();
    return new LlamaReference.Step(likely.get(0).token(), likely);
  }

  /** Fails where its mean is more than a quarter above the other's. */
  void isHardlyFurtherThan(Parity other) {
    assertThat(mean)
        .as("mean difference in nat: %s, and of the engine from itself %s", this, other)
        .isLessThan(1.25 * other.mean);
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
