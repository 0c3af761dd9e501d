package dev.flotilla.bench.launch;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A server that runs already. It is the same one in every run, with whatever its caches hold; its
 * memory is not known.
 *
 * @param baseUrl base of its API, such as {@code http://127.0.0.1:8484/v1}
 * @param model the name that requests carry
 */
public record RunningServer(String name, String baseUrl, String model, Optional<String> key)
    implements EngineStart, StartedEngine {

  @Override
  public boolean fresh() {
    return false;
  }

  @Override
  public StartedEngine start(Setting setting) {
    return this;
  }

  @Override
  public String version() {
    return "";
  }

  @Override
  public List<String> commandLine() {
    return List.of();
  }

  @Override
  public Optional<Duration> readyAfter() {
    return Optional.empty();
  }

  @Override
  public long residentBytes() {
    return 0;
  }

  @Override
  public Optional<String> whyEnded() {
    return Optional.empty();
  }

  /** Whoever started it ends it. */
  @Override
  public void close() {}

  /** The key is left out: it is a secret. */
  @Override
  public String toString() {
    return "RunningServer[" + name + ", " + baseUrl + ", " + model + "]";
  }
}
