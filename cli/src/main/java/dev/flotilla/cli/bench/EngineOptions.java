package dev.flotilla.cli.bench;

import dev.flotilla.bench.launch.Setting;
import dev.flotilla.cli.output.WholeNumber;
import dev.flotilla.cli.output.WrongUsage;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How engines are started that a benchmark starts itself. */
final class EngineOptions {
  static final int SLOTS_MAX = 256;
  private static final int READY_SECONDS_MAX = 24 * 3600;
  private static final int READY_SECONDS_DEFAULT = 300;

  @Option(
      names = "--slots",
      paramLabel = "N",
      converter = Slots.class,
      description = "Requests that an engine started here runs at once (default: 4; of arm C: 2).")
  private @Nullable Integer slots;

  @Option(
      names = "--context",
      paramLabel = "N",
      defaultValue = "4096",
      converter = ContextTokens.class,
      description = "Tokens of one request, prompt and answer together (default: 4096).")
  private int context;

  @Option(
      names = "--threads",
      paramLabel = "N",
      converter = Threads.class,
      description = "Processor threads of an engine started here (default: one for each core).")
  private @Nullable Integer threads;

  @Option(
      names = "--cores",
      paramLabel = "LIST",
      description = "Processors that an engine started here may use, such as 0 or 0-3 (Linux).")
  private @Nullable String cores;

  @Option(
      names = "--engine-path",
      paramLabel = "FILE",
      description = "The llama-server to start (default: the PATH's, else one is installed).")
  private @Nullable Path enginePath;

  @Option(
      names = "--ready-timeout",
      paramLabel = "SECONDS",
      converter = ReadySeconds.class,
      description =
          "Time that an engine has to become ready (default: llama-server by its weights, others"
              + " 300).")
  private @Nullable Integer readyTimeout;

  /** As {@code fleet.yaml} has it for a recipe's slots. */
  static final class Slots extends WholeNumber {
    Slots() {
      super(1, SLOTS_MAX);
    }
  }

  /** As {@code fleet.yaml} has it for a promise's context. */
  static final class ContextTokens extends WholeNumber {
    ContextTokens() {
      super(64, 16 << 20);
    }
  }

  /** At least one. */
  static final class Threads extends WholeNumber {
    Threads() {
      super(1, 4096);
    }
  }

  /** Up to a day. */
  static final class ReadySeconds extends WholeNumber {
    ReadySeconds() {
      super(1, READY_SECONDS_MAX);
    }
  }

  /**
   * What engines are started with, for this model.
   *
   * @param slotsDefault where nobody says how many
   */
  Setting setting(String model, int slotsDefault) {
    if (cores != null && Cores.numbers(cores).isEmpty()) {
      throw new WrongUsage("--cores: a list of processors looks like 0 or 0,2-3");
    }
    return new Setting(
        model,
        slots == null ? slotsDefault : slots,
        context,
        threads == null ? OptionalInt.empty() : OptionalInt.of(threads),
        Optional.ofNullable(cores));
  }

  /** Tokens of one request, prompt and answer together. */
  int context() {
    return context;
  }

  /** Where somebody says. */
  Optional<Duration> readyTimeout() {
    return Optional.ofNullable(readyTimeout).map(Duration::ofSeconds);
  }

  /** For engines of which nothing else says how long they may take. */
  Duration readyWithin() {
    return readyTimeout().orElse(Duration.ofSeconds(READY_SECONDS_DEFAULT));
  }

  @Nullable Path enginePath() {
    return enginePath;
  }
}
