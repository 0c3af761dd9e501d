package dev.flotilla.engine.model;

/** Qwen 1.5, 2 and 2.5: queries, keys and values have a bias. */
record Qwen2() implements Architecture {
  @Override
  public String word() {
    return "qwen2";
  }

  @Override
  public ModelShape shape(Hyperparameters from) throws ModelRefused {
    return new ShapeChange(from.shape(true)).biases().shape();
  }
}
