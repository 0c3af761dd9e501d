package dev.flotilla.cli.bench;

import dev.flotilla.agent.engine.EngineAdapter;
import dev.flotilla.agent.engine.EngineUnavailable;
import dev.flotilla.agent.engine.ProgressListener;
import dev.flotilla.agent.process.LoneEngine;
import dev.flotilla.bench.launch.EngineChoice.Known;
import dev.flotilla.bench.launch.EngineNotStarted;
import dev.flotilla.bench.launch.EngineStart;
import dev.flotilla.bench.launch.Setting;
import dev.flotilla.bench.launch.StartedEngine;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** An engine that is known, started as an agent starts its workers. */
final class KnownEngineStart implements EngineStart {
  private static final List<String> SLOTS = List.of("np", "parallel", "slots");

  private final Known choice;
  private final String model;
  private final EngineAdapter adapter;
  private final ProgressListener progress;
  private final LocalMachine machine;

  /**
   * @param model the name that requests carry
   */
  KnownEngineStart(
      Known choice,
      String model,
      EngineAdapter adapter,
      ProgressListener progress,
      LocalMachine machine) {
    this.choice = choice;
    this.model = model;
    this.adapter = adapter;
    this.progress = progress;
    this.machine = machine;
  }

  @Override
  public String name() {
    return choice.name();
  }

  @Override
  public boolean fresh() {
    return true;
  }

  @Override
  public StartedEngine start(Setting setting) throws EngineNotStarted, InterruptedException {
    WorkerSpec spec = spec(setting);
    Optional<String> contradiction = adapter.contradiction(spec);
    if (contradiction.isPresent()) {
      throw new EngineNotStarted(name() + " can't be started: " + contradiction.get());
    }
    Path folder = null;
    boolean kept = false;
    try {
      adapter.prepare(spec, progress);
      folder = machine.folder(name());
      LoneEngine.Place place =
          machine.place(folder, machine.threads(setting), machine.cores().starter(setting.cores()));
      LoneEngine engine = LoneEngine.start(adapter, spec, Path.of(setting.model()), place);
      kept = true;
      return new Started(engine, choice.engine(), model, folder);
    } catch (LoneEngine.NotReady | EngineUnavailable e) {
      throw new EngineNotStarted(name() + " did not start: " + e.getMessage(), e);
    } catch (IOException e) {
      throw new EngineNotStarted(name() + " can't be started: " + e.getMessage() + ".", e);
    } finally {
      if (folder != null && !kept) {
        LocalMachine.remove(folder);
      }
    }
  }

  private WorkerSpec spec(Setting setting) throws EngineNotStarted {
    Map<String, String> args = new LinkedHashMap<>(choice.options());
    int slots = setting.slots();
    for (String option : SLOTS) {
      String value = args.remove(option);
      if (value != null) {
        slots = slots(option, value);
      }
    }
    return new WorkerSpec(
        "bench/" + name(),
        model,
        choice.engine(),
        setting.model(),
        setting.contextTokens(),
        slots,
        Reasoning.REASONING_CONTENT,
        false,
        false,
        args);
  }

  private int slots(String option, String value) throws EngineNotStarted {
    try {
      int slots = Integer.parseInt(value);
      if (slots >= 1 && slots <= EngineOptions.SLOTS_MAX) {
        return slots;
      }
    } catch (NumberFormatException e) {
      // Said below, as for a number out of range.
    }
    throw new EngineNotStarted(
        "%s can't be started: its option %s is a whole number from 1 to %d."
            .formatted(name(), option, EngineOptions.SLOTS_MAX));
  }

  /** One that runs. */
  private record Started(LoneEngine engine, String word, String model, Path folder)
      implements StartedEngine {

    @Override
    public String baseUrl() {
      return "http://127.0.0.1:" + engine.port() + "/v1";
    }

    @Override
    public Optional<String> key() {
      return Optional.of(engine.key());
    }

    @Override
    public String version() {
      return engine.build();
    }

    @Override
    public List<String> commandLine() {
      return engine.command();
    }

    @Override
    public Optional<Duration> readyAfter() {
      return Optional.of(engine.readyAfter());
    }

    @Override
    public long residentBytes() {
      return engine.residentBytes();
    }

    @Override
    public Optional<String> whyEnded() {
      try {
        return engine.whyEnded();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return Optional.empty();
      }
    }

    @Override
    public void close() {
      engine.close();
      LocalMachine.remove(folder);
    }

    /** The engine's key is left out: it is a secret. */
    @Override
    public String toString() {
      return word + " at " + baseUrl();
    }
  }
}
