package dev.flotilla.hub.store;

import java.time.Instant;

/** Whether the store stores, for {@code /ready}, the banner and the metric. */
public sealed interface StoreHealth {

  /** What was written last was committed, and what was read last was read. */
  enum Ok implements StoreHealth {
    OK
  }

  /**
   * The store does not store or does not read. Requests are served from memory meanwhile.
   *
   * @param since when it was first seen
   * @param what one sentence: what is wrong and what to do
   */
  record Failing(Instant since, String what) implements StoreHealth {}

  default boolean ok() {
    return this == Ok.OK;
  }
}
