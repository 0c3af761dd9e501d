package dev.flotilla.hub.keys;

import dev.flotilla.hub.gateway.ClientKey;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How many requests of one key are being answered at once. A bound for a client that opens streams
 * and never ends them; who comes first within it is the queue's business.
 *
 * <p>An entry exists only while its key has requests open, so the table is as small as the load.
 */
public final class KeyStreams {

  /** Requests of one key that may be open at once, waiting ones included. */
  public static final int STREAMS_PER_KEY = 1_024;

  private final ConcurrentHashMap<String, Integer> open = new ConcurrentHashMap<>();
  private final int limit;

  public KeyStreams(int limit) {
    this.limit = limit;
  }

  public int limit() {
    return limit;
  }

  /** Counts a request in; empty where the key has as many open as it may. Close it at the end. */
  public Optional<Open> enter(ClientKey key) {
    boolean[] entered = {false};
    open.compute(
        key.name(),
        (name, count) -> {
          int before = count == null ? 0 : count;
          entered[0] = before < limit;
          return entered[0] ? Integer.valueOf(before + 1) : count;
        });
    return entered[0] ? Optional.of(new Open(this, key.name())) : Optional.empty();
  }

  /** Requests of the key that are open now. */
  public int open(String key) {
    return open.getOrDefault(key, 0);
  }

  /** One open request. */
  public static final class Open implements AutoCloseable {
    private final KeyStreams streams;
    private final String key;
    private boolean closed;

    private Open(KeyStreams streams, String key) {
      this.streams = streams;
      this.key = key;
    }

    @Override
    public synchronized void close() {
      if (!closed) {
        closed = true;
        streams.open.computeIfPresent(key, (name, count) -> count > 1 ? count - 1 : null);
      }
    }
  }
}
