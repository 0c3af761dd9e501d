package dev.flotilla.gguf.template;

/**
 * What a name, an attribute or an element is that is not there: empty where it is printed or walked
 * through, false where it is tested, and a failure where anything else is done with it.
 *
 * @param reason what the failure says
 */
record Undefined(String reason) {
  static Undefined name(String name) {
    return new Undefined("'" + name + "' is undefined");
  }

  static Undefined in(Object owner, String key) {
    String type = Kinds.name(owner);
    return new Undefined(
        owner instanceof Undefined missing
            ? missing.reason
            : "'%s object' has no attribute %s".formatted(type, key));
  }

  Failure failure() {
    return Failure.failed(reason);
  }
}
