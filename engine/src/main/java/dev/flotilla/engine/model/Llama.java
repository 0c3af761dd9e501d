package dev.flotilla.engine.model;

/** Llama 2 and 3, Mistral, SmolLM: nothing beside the common. */
record Llama() implements Architecture {
  @Override
  public String word() {
    return "llama";
  }

  @Override
  public ModelShape shape(Hyperparameters from) throws ModelRefused {
    return from.shape(false);
  }
}
