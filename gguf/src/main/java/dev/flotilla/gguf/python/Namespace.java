package dev.flotilla.gguf.python;

import java.util.LinkedHashMap;
import java.util.Map;

/** What {@code namespace()} makes: the one value that a template can change. */
public final class Namespace {
  private final Map<String, Object> attributes;

  /** A namespace that begins with copies of these. */
  public Namespace(Map<String, Object> attributes) {
    this.attributes = new LinkedHashMap<>(attributes);
  }

  /** What is in it now; a template changes it here. */
  public Map<String, Object> attributes() {
    return attributes;
  }
}
