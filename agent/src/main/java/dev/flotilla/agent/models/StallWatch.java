package dev.flotilla.agent.models;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;

/** Closes a stream from which nothing came for too long, so that the thread that reads it wakes. */
final class StallWatch implements AutoCloseable {
  private final InputStream stream;
  private final long limitNanos;
  private volatile long aliveAtNanos = System.nanoTime();
  private volatile boolean stalled;
  private final Thread watcher;

  private StallWatch(InputStream stream, Duration limit) {
    this.stream = stream;
    this.limitNanos = limit.toNanos();
    this.watcher = Thread.ofVirtual().name("stall-watch").unstarted(this::watch);
  }

  static StallWatch over(InputStream stream, Duration limit) {
    StallWatch watch = new StallWatch(stream, limit);
    watch.watcher.start();
    return watch;
  }

  void alive() {
    aliveAtNanos = System.nanoTime();
  }

  /** Whether this watch closed the stream. */
  boolean stalled() {
    return stalled;
  }

  @Override
  public void close() {
    watcher.interrupt();
  }

  private void watch() {
    try {
      while (true) {
        long left = aliveAtNanos + limitNanos - System.nanoTime();
        if (left <= 0) {
          stalled = true;
          stream.close();
          return;
        }
        Thread.sleep(Duration.ofNanos(left));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      System.getLogger(StallWatch.class.getName())
          .log(System.Logger.Level.DEBUG, "A stalled stream did not close: {0}", e.getMessage());
    }
  }
}
