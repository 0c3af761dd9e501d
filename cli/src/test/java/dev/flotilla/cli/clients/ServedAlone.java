package dev.flotilla.cli.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.cli.fleet.FlotillaProcess;
import dev.flotilla.testkit.real.ChatTemplate;
import dev.flotilla.testkit.real.SmallModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * {@code flotilla serve} as a process of its own, on a port that it chose, with a template that
 * knows tools.
 */
final class ServedAlone implements AutoCloseable {
  static final String MODEL = "small";
  static final String KEY = "a-key-of-this-test";
  private static final Duration START_LIMIT = Duration.ofMinutes(3);
  private static final Pattern ADDRESS = Pattern.compile("http://127\\.0\\.0\\.1:\\d+");
  private static final Pattern PROMISED = Pattern.compile("will take +([\\d,]+)\\.\\d MiB");

  private final FlotillaProcess process;

  private ServedAlone(FlotillaProcess process) {
    this.process = process;
  }

  static ServedAlone start() {
    try {
      Path folder = Files.createTempDirectory(Files.createDirectories(Path.of("target")), "serve-");
      FlotillaProcess process =
          FlotillaProcess.start(
              folder.toAbsolutePath(),
              Map.of("FLOTILLA_ENGINE_KEY", KEY, "MALLOC_ARENA_MAX", "2"),
              "serve",
              SmallModel.gguf().toString(),
              "--listen",
              "127.0.0.1:0",
              "--name",
              MODEL,
              "--context",
              "1024",
              "--slots",
              "4",
              "--memory",
              "1G",
              "--chat-template",
              ChatTemplate.TOOLS.file().toString());
      await()
          .atMost(START_LIMIT)
          .until(() -> process.output().contains("ready after") || !process.isAlive());
      assertThat(process.output()).contains("ready after");
      return new ServedAlone(process);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  /** The base URL that clients are told. */
  String api() {
    Matcher address = ADDRESS.matcher(process.output());
    assertThat(address.find()).isTrue();
    return address.group() + "/v1";
  }

  FlotillaProcess process() {
    return process;
  }

  /** What it printed at its start that it would take, in MiB. */
  long promisedMebibytes() {
    Matcher promised = PROMISED.matcher(process.output());
    assertThat(promised.find()).as(process.output()).isTrue();
    return Long.parseLong(promised.group(1).replace(",", ""));
  }

  /** What it has taken, in MiB. */
  long residentMebibytes() throws IOException {
    return Files.readAllLines(Path.of("/proc", String.valueOf(process.pid()), "status")).stream()
        .filter(line -> line.startsWith("VmRSS:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) >> 10)
        .findFirst()
        .orElseThrow();
  }

  @Override
  public void close() {
    process.close();
  }
}
