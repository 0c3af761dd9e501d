package dev.flotilla.gguf.python;

import dev.flotilla.gguf.sandbox.Failure;

/**
 * What a name, an attribute or an element is that is not there: empty where it is printed or walked
 * through, false where it is tested, and a failure where anything else is done with it.
 *
 * @param reason what the failure says
 */
public record Undefined(String reason) {
  /** What a name is that was never set. */
  public static Undefined name(String name) {
    return new Undefined("'" + name + "' is undefined");
  }

  /**
   * What an attribute or element is that its owner does not have.
   *
   * @param key as a message shows it
   */
  public static Undefined in(Object owner, String key) {
    String type = Kinds.name(owner);
    return new Undefined(
        owner instanceof Undefined missing
            ? missing.reason
            : "'%s object' has no attribute %s".formatted(type, key));
  }

  /** What doing anything else with it comes to. */
  public Failure failure() {
    return Failure.failed(reason);
  }
}
