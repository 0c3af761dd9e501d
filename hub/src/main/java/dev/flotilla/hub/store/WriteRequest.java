package dev.flotilla.hub.store;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * One write and the caller who waits for it.
 *
 * <p>Whoever sets {@code claimed} first decides what became of it: the writer, which then runs it,
 * or the caller who gave up, after which it is never run.
 */
final class WriteRequest<T> {

  private final String what;
  private final Writer.Work<T> work;
  private final CompletableFuture<T> answer = new CompletableFuture<>();
  private final AtomicBoolean claimed = new AtomicBoolean();
  // Written and read by the writing thread alone.
  private @Nullable T result;
  private @Nullable Fault own;
  private @Nullable Throwable cause;

  /**
   * @param what is written, for the messages: it begins a sentence
   */
  WriteRequest(String what, Writer.Work<T> work) {
    this.what = what;
    this.work = work;
  }

  String what() {
    return what;
  }

  /** Takes the request for running; false where its caller gave up. */
  boolean claim() {
    return claimed.compareAndSet(false, true);
  }

  void run(Handle handle) {
    result = work.run(handle);
  }

  /** It failed by itself; its caller is told together with the others. */
  void failedByItself(Fault fault, Throwable thrown) {
    own = fault;
    cause = thrown;
  }

  /** Tells the caller, after the commit. */
  void tell() {
    Fault fault = own;
    if (fault != null) {
      fail(fault, cause);
      return;
    }
    @SuppressWarnings("NullAway") // set by run(); null only where T itself admits it
    T stored = result;
    answer.complete(stored);
  }

  /** Tells the caller that nothing was stored, by an exception of its own. */
  void fail(Fault fault, @Nullable Throwable why) {
    answer.completeExceptionally(
        new StoreFailed(what + " was not stored: " + fault.sentence(), why));
  }

  /** Waits for the answer, on the caller's thread. */
  T await(Duration limit) throws StoreFailed {
    try {
      return answer.get(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof StoreFailed failed) {
        throw failed;
      }
      throw new IllegalStateException("the writer answers with StoreFailed alone", e);
    } catch (TimeoutException e) {
      throw gaveUp("the disk did not answer within " + limit.toSeconds() + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw gaveUp("the wait for the disk was interrupted", e);
    }
  }

  private StoreFailed gaveUp(String why, Exception thrown) {
    return new StoreFailed(
        claim()
            ? what + " was not stored: " + why
            : "whether %s was stored is not known: %s; look before trying again"
                .formatted(what, why),
        thrown);
  }
}
