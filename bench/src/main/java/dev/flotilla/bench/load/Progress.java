package dev.flotilla.bench.load;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** How far a run is: counted by it, read by whoever shows it, at any time and from any thread. */
public final class Progress {
  private final AtomicInteger total = new AtomicInteger();
  private final AtomicInteger sent = new AtomicInteger();
  private final AtomicInteger done = new AtomicInteger();
  private final AtomicInteger failed = new AtomicInteger();
  private final AtomicLong outputTokens = new AtomicLong();

  /** Of a run that has not begun. */
  public Progress() {}

  /** As far as that. */
  public Progress(int total, int sent, int done, int failed, long outputTokens) {
    this.total.set(total);
    this.sent.set(sent);
    this.done.set(done);
    this.failed.set(failed);
    this.outputTokens.set(outputTokens);
  }

  /** Requests of the run; 0 before its clock has started. */
  public int total() {
    return total.get();
  }

  /** Requests that were sent. */
  public int sent() {
    return sent.get();
  }

  /** Requests that have ended, failed ones included. */
  public int done() {
    return done.get();
  }

  public int failed() {
    return failed.get();
  }

  /** Tokens of the answers that have ended. */
  public long outputTokens() {
    return outputTokens.get();
  }

  void begin(int requests) {
    total.set(requests);
  }

  void sendsOne() {
    sent.incrementAndGet();
  }

  /**
   * @param well whether it is no failure: it succeeded, or the end of the run cut it
   */
  void ended(boolean well, int tokens) {
    if (!well) {
      failed.incrementAndGet();
    }
    outputTokens.addAndGet(tokens);
    done.incrementAndGet();
  }
}
