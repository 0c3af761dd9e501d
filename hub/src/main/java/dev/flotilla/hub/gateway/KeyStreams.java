package dev.flotilla.hub.gateway;

import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.text.Counted;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * How many requests of one key are open at once, waiting ones included. A bound for a client that
 * opens streams and never ends them; who comes first within it is the queue's business. Where no
 * key is demanded nothing is counted.
 *
 * <p>An entry exists only while its key has requests open, so the table is as small as the load.
 */
final class KeyStreams {
  private static final Duration RETRY = Duration.ofSeconds(1);
  private static final Open UNCOUNTED = () -> {};

  private final ConcurrentHashMap<String, Integer> open = new ConcurrentHashMap<>();
  private final int limit;

  KeyStreams(int limit) {
    this.limit = limit;
  }

  /**
   * One open request. It is closed before the last bytes of its reply are sent, since who has them
   * may ask again at once; and at its end in any case. Only the first time counts.
   */
  @FunctionalInterface
  interface Open extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * Counts a request in.
   *
   * @param key the key's name, empty where none is demanded
   * @throws Refusal where the key has as many open as it may
   */
  Open enter(String key) throws Refusal {
    if (key.isEmpty()) {
      return UNCOUNTED;
    }
    boolean[] entered = {false};
    open.compute(
        key,
        (name, count) -> {
          int before = count == null ? 0 : count;
          entered[0] = before < limit;
          return entered[0] ? Integer.valueOf(before + 1) : count;
        });
    if (!entered[0]) {
      throw Refusal.refused(
          ApiError.tooManyRequests(
              "key_requests_open",
              "this key has "
                  + Counted.of(limit, "request")
                  + " open, which is the limit for one key: end some of them first, or"
                  + " use a key of its own for each program",
              RETRY));
    }
    AtomicBoolean closed = new AtomicBoolean();
    return () -> {
      if (closed.compareAndSet(false, true)) {
        open.computeIfPresent(key, (name, count) -> count > 1 ? count - 1 : null);
      }
    };
  }
}
