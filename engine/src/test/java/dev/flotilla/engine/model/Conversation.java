package dev.flotilla.engine.model;

import java.util.List;

/** One sequence on a runner of its own, in blocks from the last to the first. */
final class Conversation {
  private final ModelRunner runner;
  private final PackedStep step;
  private final Logits logits;
  private int tokens;

  Conversation(ModelRunner runner) {
    this.runner = runner;
    step = new PackedStep(64, 1, runner.kvBlocks());
    logits = new Logits(1, runner.vocabulary());
  }

  /** Adds tokens, and returns the logits after the last. */
  float[] say(List<Integer> more) {
    step.clear();
    step.sequence(tokens);
    for (int i = 0; i < KvLayout.blocksFor(tokens + more.size()); i++) {
      step.block(runner.kvBlocks() - 1 - i);
    }
    for (int i = 0; i < more.size(); i++) {
      step.row(more.get(i), i == more.size() - 1);
    }
    runner.run(step, logits);
    tokens += more.size();
    return logits.row(0);
  }

  /** The logarithm of the sum of exponentials. */
  static double normaliser(float[] logits) {
    double largest = logits[best(logits)];
    double sum = 0;
    for (float logit : logits) {
      sum += Math.exp(logit - largest);
    }
    return largest + Math.log(sum);
  }

  static int best(float[] logits) {
    int best = 0;
    for (int i = 1; i < logits.length; i++) {
      if (logits[i] > logits[best]) {
        best = i;
      }
    }
    return best;
  }
}
