package dev.flotilla.engine.model;

/** A family of models: how the numbers of a header become a shape. */
interface Architecture {
  /** Its word in {@code general.architecture}. */
  String word();

  /** The shape of a model of this family. */
  ModelShape shape(Hyperparameters from) throws ModelRefused;
}
