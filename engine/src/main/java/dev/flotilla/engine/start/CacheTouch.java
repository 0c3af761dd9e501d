package dev.flotilla.engine.start;

import dev.flotilla.engine.ThreadEnd;
import dev.flotilla.engine.kernel.KvPages;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Takes the memory of the cache, so that no step ever waits for any: on threads of its own, beside
 * whatever else a start does. Where the system has to find a gigabyte first, that takes seconds.
 *
 * <p>Life: {@link #start}, then {@link #await} or {@link #close}, which gives up; both return when
 * no thread touches the pages any more, so that these may be closed.
 */
final class CacheTouch implements AutoCloseable {
  private final KvPages pages;
  private final AtomicInteger next = new AtomicInteger();
  private final Thread[] threads;

  private CacheTouch(KvPages pages, int threads) {
    this.pages = pages;
    this.threads = new Thread[threads];
    for (int i = 0; i < threads; i++) {
      this.threads[i] = Thread.ofPlatform().daemon().name("cache-" + i).start(this::run);
    }
  }

  /** Begins, with half as many threads as compute. */
  static CacheTouch start(KvPages pages, int computing) {
    return new CacheTouch(pages, Math.max(1, computing / 2));
  }

  private void run() {
    for (int piece = next.getAndIncrement();
        piece < pages.pieces();
        piece = next.getAndIncrement()) {
      pages.touch(piece);
    }
  }

  /** Waits until all of it is taken. */
  void await() {
    for (Thread thread : threads) {
      ThreadEnd.await(thread);
    }
  }

  @Override
  public void close() {
    next.set(pages.pieces());
    await();
  }
}
