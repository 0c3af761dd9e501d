package dev.flotilla.gguf.template;

import java.util.LinkedHashMap;
import java.util.Map;

/** What {@code namespace()} makes: the one value that a template can change. */
final class Namespace {
  private final Map<String, Object> attributes;

  Namespace(Map<String, Object> attributes) {
    this.attributes = new LinkedHashMap<>(attributes);
  }

  Map<String, Object> attributes() {
    return attributes;
  }
}
