package dev.flotilla.shape.dialect;

import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;

/**
 * What a model's name guarantees of the form of every reply, whichever engine wrote it.
 *
 * @param reasoning where the model's reasoning is
 * @param tools whether tool calls arrive as {@code tool_calls}
 * @param sampling how tokens are drawn where a request does not say
 */
public record Promise(Reasoning reasoning, boolean tools, Sampling sampling) {

  /** A promise that draws as is usual. */
  public Promise(Reasoning reasoning, boolean tools) {
    this(reasoning, tools, Sampling.DEFAULTS);
  }
}
