package dev.flotilla.shape.dialect;

/** Who sees to it that a {@link Feature} of a request has its effect. */
public enum Honour {
  /** The engine itself. */
  BY_ENGINE,
  /** The hub, whatever the engine does: the client can't tell the difference. */
  BY_HUB,
  /** Nobody: a worker of this engine does not get such a request. */
  NOT
}
