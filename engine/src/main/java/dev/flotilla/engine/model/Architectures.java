package dev.flotilla.engine.model;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** All architectures that are computed. */
final class Architectures {
  private static final List<Architecture> ALL =
      List.of(new Llama(), new Qwen2(), new Qwen3(), new Gemma3());

  private Architectures() {}

  static Optional<Architecture> named(String word) {
    return ALL.stream().filter(architecture -> architecture.word().equals(word)).findFirst();
  }

  /** Their words, for a refusal. */
  static String words() {
    return ALL.stream().map(Architecture::word).collect(Collectors.joining(", "));
  }
}
