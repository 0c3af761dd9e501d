package dev.flotilla.hub.store;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * The few platform threads that read, each on a connection that can't write. A caller parks while
 * one of them reads for it, so that no virtual thread's carrier is held by SQLite. Connections are
 * kept between reads; one that met a fault is closed instead.
 */
final class Readers implements AutoCloseable {

  private static final Logger LOG = System.getLogger(Readers.class.getName());
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

  private final Database database;
  private final StoreLimits limits;
  private final ThreadPoolExecutor threads;
  private final BlockingQueue<Handle> idle = new ArrayBlockingQueue<>(StoreLimits.READERS);
  private volatile @Nullable Fault fault;

  Readers(Database database, StoreLimits limits) {
    this.database = database;
    this.limits = limits;
    this.threads =
        new ThreadPoolExecutor(
            StoreLimits.READERS,
            StoreLimits.READERS,
            1,
            TimeUnit.MINUTES,
            new ArrayBlockingQueue<>(limits.waiting().readsWaiting()),
            Thread.ofPlatform().name("store-reader-", 0).daemon(true).factory());
    threads.allowCoreThreadTimeOut(true);
  }

  <T> T read(String what, Writer.Work<T> work) throws StoreFailed {
    Future<T> answer;
    try {
      answer = threads.submit(() -> run(work));
    } catch (RejectedExecutionException e) {
      throw new StoreFailed(
          what + " can't be read: too many reads wait already, or the hub is stopping", e);
    }
    try {
      return answer.get(limits.waiting().readWait().toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new StoreFailed(
          what + " can't be read: " + Fault.of(cause, database.file()).sentence(), cause);
    } catch (TimeoutException e) {
      answer.cancel(false);
      throw new StoreFailed(
          what
              + " can't be read: no answer within "
              + limits.waiting().readWait().toSeconds()
              + " s",
          e);
    } catch (InterruptedException e) {
      answer.cancel(false);
      Thread.currentThread().interrupt();
      throw new StoreFailed(what + " can't be read: the wait was interrupted", e);
    }
  }

  private <T> T run(Writer.Work<T> work) {
    try {
      Handle kept = idle.poll();
      Handle handle = kept == null ? database.openReader() : kept;
      T result;
      try {
        result = work.run(handle);
      } catch (RuntimeException e) {
        handle.close();
        throw e;
      }
      if (!idle.offer(handle)) {
        handle.close();
      }
      fault = null;
      return result;
    } catch (RuntimeException e) {
      Fault found = Fault.of(e, database.file());
      if (found.surroundings()) {
        fault = found;
      } else {
        LOG.log(Level.ERROR, "The store could not read", e);
      }
      throw e;
    }
  }

  /** What stopped the last read, null where it went well. */
  @Nullable Fault fault() {
    return fault;
  }

  @Override
  public void close() {
    threads.shutdown();
    try {
      if (!threads.awaitTermination(CLOSE_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
        LOG.log(Level.WARNING, "A read of the store did not end within {0}", CLOSE_LIMIT);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    for (Handle handle = idle.poll(); handle != null; handle = idle.poll()) {
      handle.close();
    }
  }
}
