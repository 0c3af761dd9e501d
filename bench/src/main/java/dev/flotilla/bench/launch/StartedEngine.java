package dev.flotilla.bench.launch;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A server that answers. {@link #close} ends it, where it was started here. */
public interface StartedEngine extends AutoCloseable {

  /** Base of its API, such as {@code http://127.0.0.1:8001/v1}. */
  String baseUrl();

  /** The name that requests carry. */
  String model();

  /** The key that it demands, a secret. */
  Optional<String> key();

  /** What it says of its version, empty where it says nothing. */
  String version();

  /** How it was started, without secrets; empty where it was there already. */
  List<String> commandLine();

  /** From its start until it answered; empty where it was there already. */
  Optional<Duration> readyAfter();

  /**
   * Resident memory of all its processes in bytes; 0 where nobody knows.
   *
   * @see MemorySampler
   */
  long residentBytes();

  /** Why it runs no more: one sentence; empty while it does, or where nobody knows. */
  Optional<String> whyEnded();

  /** Ends all its processes; none is left after this. */
  @Override
  void close();
}
