package dev.flotilla.agent.models;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The right to write one file of the store: one thread of one process has it at a time.
 *
 * <p>Two locks, since a file lock is held by the whole JVM: a thread first takes the file's lock
 * among this JVM's threads, then the lock of {@code NAME.lock} among processes. The operating
 * system releases the second when its process dies, however it dies, so a turn can't be left
 * behind. The lock's file stays: removing it would let two processes lock two files of one name.
 */
final class FileTurn implements AutoCloseable {

  /**
   * Hears at every look that another process has the turn. Of a thread of this process nothing is
   * said: it tells how far it is itself, to the same listeners.
   */
  interface Waiting {
    void still() throws IOException;
  }

  private static final class Queue {
    final ReentrantLock lock = new ReentrantLock();
    int users;
  }

  private static final Duration LOOK = Duration.ofMillis(100);

  /** The files that threads of this JVM use or wait for; guarded by itself. */
  private static final Map<Path, Queue> QUEUES = new HashMap<>();

  private final Path key;
  private final Queue queue;
  private final FileChannel channel;

  private FileTurn(Path key, Queue queue, FileChannel channel) {
    this.key = key;
    this.queue = queue;
    this.channel = channel;
  }

  /**
   * Waits for the turn on {@code file}.
   *
   * @throws DownloadFailed where another had it for longer than {@code limit}
   */
  static FileTurn take(Path file, Duration limit, Waiting waiting)
      throws IOException, InterruptedException, DownloadFailed {
    Path key = file.toAbsolutePath().normalize();
    long deadline = System.nanoTime() + limit.toNanos();
    Queue queue = join(key);
    boolean held = false;
    boolean done = false;
    try {
      while (!held) {
        held = queue.lock.tryLock(LOOK.toMillis(), TimeUnit.MILLISECONDS);
        if (!held) {
          inTime(file, limit, deadline);
        }
      }
      FileTurn turn = new FileTurn(key, queue, lockFile(key, limit, deadline, waiting));
      done = true;
      return turn;
    } finally {
      if (!done) {
        if (held) {
          queue.lock.unlock();
        }
        leave(key, queue);
      }
    }
  }

  /**
   * @throws IllegalStateException where the calling thread does not have this turn
   */
  void require() {
    if (!queue.lock.isHeldByCurrentThread() || !channel.isOpen()) {
      throw new IllegalStateException("the turn on " + key + " is not this thread's");
    }
  }

  /** By the thread that took it. */
  @Override
  public void close() throws IOException {
    try {
      channel.close();
    } finally {
      queue.lock.unlock();
      leave(key, queue);
    }
  }

  private static FileChannel lockFile(Path file, Duration limit, long deadline, Waiting waiting)
      throws IOException, InterruptedException, DownloadFailed {
    Files.createDirectories(file.getParent());
    FileChannel channel =
        FileChannel.open(
            file.resolveSibling(file.getFileName() + ".lock"),
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE);
    boolean done = false;
    try {
      while (true) {
        FileLock lock = channel.tryLock();
        if (lock != null) {
          done = true;
          return channel;
        }
        inTime(file, limit, deadline);
        waiting.still();
        Thread.sleep(LOOK);
      }
    } finally {
      if (!done) {
        channel.close();
      }
    }
  }

  private static void inTime(Path file, Duration limit, long deadline) throws DownloadFailed {
    if (System.nanoTime() - deadline > 0) {
      throw new DownloadFailed(
          "Another agent has been fetching "
              + file
              + " for more than "
              + limit.toMinutes()
              + " minutes; end it, or use another --home.");
    }
  }

  private static Queue join(Path key) {
    synchronized (QUEUES) {
      Queue queue = QUEUES.computeIfAbsent(key, k -> new Queue());
      queue.users++;
      return queue;
    }
  }

  private static void leave(Path key, Queue queue) {
    synchronized (QUEUES) {
      if (--queue.users == 0) {
        QUEUES.remove(key);
      }
    }
  }
}
