package dev.flotilla.engine.model;

/** A model file that is in order, and that this engine can't compute. One sentence says why. */
public final class ModelRefused extends Exception {
  private static final long serialVersionUID = 1L;

  ModelRefused(String reason) {
    super(reason);
  }
}
