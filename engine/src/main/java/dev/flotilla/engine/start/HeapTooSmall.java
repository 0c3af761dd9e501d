package dev.flotilla.engine.start;

/**
 * What the model needs does not fit the process's heap; a process with a larger one can serve it.
 */
public final class HeapTooSmall extends StartRefused {
  private static final long serialVersionUID = 1L;

  private final long neededBytes;

  HeapTooSmall(long neededBytes, int slots) {
    super(
        "this model with %d slots wants a heap of %d MiB, and the process has one of %d: start it"
                .formatted(slots, neededBytes >> 20, Runtime.getRuntime().maxMemory() >> 20)
            + " with FLOTILLA_JAVA_OPTS='-Xms%1$dm -Xmx%1$dm'".formatted(neededBytes >> 20));
    this.neededBytes = neededBytes;
  }

  /** How large the heap has to be. */
  public long neededBytes() {
    return neededBytes;
  }
}
