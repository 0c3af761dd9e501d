package dev.flotilla.engine.grammar;

import dev.flotilla.engine.sample.TokenMask;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * One answer held to a grammar. After each token the next mask is made beside the model's next
 * step, and only waited for where the step was faster.
 */
final class Matcher implements TokenMask {
  private final Automaton automaton;
  private final byte[][] pieces;
  private final Executor aside;
  private Automaton.State state;

  Matcher(Automaton automaton, byte[][] pieces, Executor aside) {
    this.automaton = automaton;
    this.pieces = pieces;
    this.aside = aside;
    this.state = automaton.start();
    prepare();
  }

  @Override
  public long[] allowed() {
    return automaton.mask(state);
  }

  @Override
  public void accept(int token) {
    state = automaton.after(state, token, pieces[token]);
    prepare();
  }

  private void prepare() {
    Automaton.State wanted = state;
    try {
      aside.execute(() -> automaton.mask(wanted));
    } catch (RejectedExecutionException stopping) {
      // The server stops while the last steps run: the mask is made when it is asked for.
    }
  }
}
