package dev.flotilla.engine.model;

import dev.flotilla.engine.kernel.PackedMatrix;

/** Where the weights of a model come from, by the names that its file has for them. */
interface Weights {
  boolean has(String name);

  /** A matrix of so many rows of so many columns. */
  PackedMatrix matrix(String name, int rows, int columns) throws ModelRefused;

  /** A vector, in single precision. */
  float[] vector(String name, int length) throws ModelRefused;
}
