package dev.flotilla.engine.model;

import dev.flotilla.engine.kernel.KvPages;
import java.lang.foreign.Arena;

/**
 * The pages of keys and values of one runner, which may be made before the runner is. Their memory
 * is not taken before it is touched, and is freed with this object; nobody may read it then.
 */
public final class KvCache implements AutoCloseable {
  private final Arena arena = Arena.ofShared();
  private final KvLayout layout;
  private final KvPages pages;

  /** A cache of so many blocks. */
  public KvCache(KvLayout layout, int blocks) {
    this.layout = layout;
    pages =
        new KvPages(
            layout.layers(),
            layout.kvHeads(),
            layout.headSize(),
            layout.type() == KvType.Q8_0,
            blocks,
            arena);
  }

  public KvLayout layout() {
    return layout;
  }

  public KvPages pages() {
    return pages;
  }

  @Override
  public void close() {
    arena.close();
  }
}
