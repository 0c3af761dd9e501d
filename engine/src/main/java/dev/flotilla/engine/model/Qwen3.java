package dev.flotilla.engine.model;

/** Qwen 3, dense: heads of queries and keys are normed. */
record Qwen3() implements Architecture {
  @Override
  public String word() {
    return "qwen3";
  }

  @Override
  public ModelShape shape(Hyperparameters from) throws ModelRefused {
    return new ShapeChange(from.shape(true)).queryKeyNorm().shape();
  }
}
