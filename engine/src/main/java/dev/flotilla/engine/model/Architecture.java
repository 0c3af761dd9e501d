package dev.flotilla.engine.model;

import java.util.List;
import java.util.Optional;

/** A family of models: how the numbers of a header become a shape. */
interface Architecture {
  /** All that are computed. */
  List<Architecture> ALL = List.of(new Llama(), new Qwen2(), new Qwen3(), new Gemma3());

  /** Its word in {@code general.architecture}. */
  String word();

  /** The shape of a model of this family. */
  ModelShape shape(Hyperparameters from) throws ModelRefused;

  static Optional<Architecture> named(String word) {
    return ALL.stream().filter(architecture -> architecture.word().equals(word)).findFirst();
  }
}
