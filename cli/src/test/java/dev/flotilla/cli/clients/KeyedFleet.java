package dev.flotilla.cli.clients;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.cli.TestShell;
import dev.flotilla.cli.fleet.TestFleet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A fleet of one real worker whose hub demands a key.
 *
 * @param key one that it takes
 */
record KeyedFleet(TestFleet fleet, String key) implements AutoCloseable {
  /** What an answer of a few tokens may take on a busy machine. */
  static final Duration ANSWER_LIMIT = Duration.ofMinutes(2);

  /** Starts it; its homes and logs stay in {@code target}. */
  static KeyedFleet start() throws IOException {
    Path folder = Files.createTempDirectory(Files.createDirectories(Path.of("target")), "clients-");
    Path home = TestFleet.home(folder.toAbsolutePath(), "up");
    TestShell keys = TestShell.piped();
    assertThat(keys.run("keys", "create", "clients", "--home", home.toString()))
        .as(keys.err())
        .isZero();
    return new KeyedFleet(
        TestFleet.up(folder.toAbsolutePath(), "--workers", "1"), keys.out().strip());
  }

  /** The base URL that clients are told. */
  String api() {
    return fleet.url() + "/v1";
  }

  /** The one model's public name. */
  String model() {
    return TestFleet.MODEL;
  }

  /** A small model may answer anything, but not nothing. */
  static void isText(String answer) {
    assertThat(answer).isNotBlank();
  }

  @Override
  public void close() {
    fleet.close();
  }
}
