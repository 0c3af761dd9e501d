package dev.flotilla.bench.launch;

import dev.flotilla.bench.launch.ReadyQuestion.Answer;
import dev.flotilla.wire.connection.LoopbackPorts;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Any server that a command line starts and that speaks OpenAI's API on a loopback port. It is
 * ready when it has given one token, and ended as a whole tree of processes.
 */
public final class CommandEngine implements EngineStart {
  private static final Duration ASK_EVERY = Duration.ofMillis(200);
  private static final int PORT_TRIES = 5;
  private static final int LINES_SHOWN = 3;

  private final String name;
  private final CommandTemplate template;
  private final ProcessStart processes;
  private final Duration readyWithin;

  /**
   * @param readyWithin time that a start may take until the first token
   */
  public CommandEngine(
      String name, CommandTemplate template, ProcessStart processes, Duration readyWithin) {
    this.name = name;
    this.template = template;
    this.processes = processes;
    this.readyWithin = readyWithin;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public boolean fresh() {
    return true;
  }

  @Override
  public StartedEngine start(Setting setting) throws EngineNotStarted, InterruptedException {
    for (int tries = 1; tries <= PORT_TRIES; tries++) {
      Optional<StartedEngine> engine = once(setting);
      if (engine.isPresent()) {
        return engine.get();
      }
    }
    throw new EngineNotStarted(
        "%s did not start: other programs took each of the %d ports that were tried."
            .formatted(name, PORT_TRIES));
  }

  /** One port's try; empty where another program took the port. */
  private Optional<StartedEngine> once(Setting setting)
      throws EngineNotStarted, InterruptedException {
    long begun = System.nanoTime();
    ProcessStart.Running process;
    int port;
    List<String> command;
    try {
      port = LoopbackPorts.free();
      command = template.fill(setting, port);
      process = processes.start(name, command, setting.cores());
    } catch (IOException e) {
      throw new EngineNotStarted("%s can't be started: %s.".formatted(name, e.getMessage()), e);
    }
    boolean kept = false;
    try {
      Optional<String> model = awaitReady(process, question(setting, command, port), begun);
      kept = model.isPresent();
      if (!kept && !LoopbackPorts.taken(port)) {
        throw new EngineNotStarted("%s did not start: %s".formatted(name, end(process)));
      }
      return model.map(each ->
          new Served(process, port, each, command, Duration.ofNanos(System.nanoTime() - begun)));
    } finally {
      if (!kept) {
        process.close();
      }
    }
  }

  /** Engines with many models list them all; the one that is meant is on the command line. */
  private static ReadyQuestion question(Setting setting, List<String> command, int port) {
    List<String> names = new ArrayList<>(List.of(setting.model()));
    names.addAll(command);
    return new ReadyQuestion(port, names);
  }

  /** The model's name; empty where the process ended. */
  private Optional<String> awaitReady(
      ProcessStart.Running process, ReadyQuestion question, long begun)
      throws EngineNotStarted, InterruptedException {
    while (true) {
      if (!process.isAlive()) {
        return Optional.empty();
      }
      Duration left = readyWithin.minusNanos(System.nanoTime() - begun);
      switch (question.ask(left.isPositive() ? left : ASK_EVERY)) {
        case Answer.Ready ready -> {
          return Optional.of(ready.model());
        }
        case Answer.NotYet notYet -> {
          if (!left.isPositive()) {
            throw new EngineNotStarted(
                "%s was not ready within %d s (%s); a longer wait is --ready-timeout SECONDS."
                    .formatted(name, readyWithin.toSeconds(), notYet.what()));
          }
        }
      }
      Thread.sleep(ASK_EVERY);
    }
  }

  private static String end(ProcessStart.Running process) {
    List<String> lines = process.lastLines();
    String last =
        String.join(" | ", lines.subList(Math.max(0, lines.size() - LINES_SHOWN), lines.size()));
    return "it ended with exit code %d%s."
        .formatted(
            process.exitCode(), last.isBlank() ? " and said nothing" : "; its last words: " + last);
  }

  /** One that answers. */
  private record Served(
      ProcessStart.Running process, int port, String model, List<String> commandLine, Duration took)
      implements StartedEngine {

    @Override
    public String baseUrl() {
      return "http://127.0.0.1:" + port + "/v1";
    }

    @Override
    public Optional<String> key() {
      return Optional.empty();
    }

    @Override
    public String version() {
      return "";
    }

    @Override
    public Optional<Duration> readyAfter() {
      return Optional.of(took);
    }

    @Override
    public long residentBytes() {
      return process.residentBytes();
    }

    @Override
    public Optional<String> whyEnded() {
      return process.isAlive() ? Optional.empty() : Optional.of(end(process));
    }

    @Override
    public void close() {
      process.close();
    }
  }
}
