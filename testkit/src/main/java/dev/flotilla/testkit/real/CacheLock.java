package dev.flotilla.testkit.real;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The right to make one thing of the tests' cache. A file's lock is between JVMs alone: threads of
 * one, as of test classes that run their methods at once, wait for each other before it.
 */
final class CacheLock implements AutoCloseable {
  private static final ConcurrentMap<Path, ReentrantLock> HERE = new ConcurrentHashMap<>();

  private final ReentrantLock here;
  private final FileChannel channel;
  private final FileLock everywhere;

  private CacheLock(ReentrantLock here, FileChannel channel, FileLock everywhere) {
    this.here = here;
    this.channel = channel;
    this.everywhere = everywhere;
  }

  /** Waits until nobody else has it; the file is made where it is missing, and stays. */
  static CacheLock of(Path file) throws IOException {
    ReentrantLock here =
        HERE.computeIfAbsent(file.toAbsolutePath().normalize(), _ -> new ReentrantLock());
    here.lock();
    try {
      FileChannel channel =
          FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      return new CacheLock(here, channel, channel.lock());
    } catch (IOException | RuntimeException e) {
      here.unlock();
      throw e;
    }
  }

  /** Whether the lock still stands; it does but for a file system that forgets locks. */
  boolean held() {
    return everywhere.isValid();
  }

  @Override
  public void close() throws IOException {
    try {
      channel.close();
    } finally {
      here.unlock();
    }
  }
}
