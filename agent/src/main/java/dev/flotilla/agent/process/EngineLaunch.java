package dev.flotilla.agent.process;

import dev.flotilla.agent.engine.EngineAdapter;
import dev.flotilla.agent.engine.EngineAdapter.Launch;
import dev.flotilla.agent.engine.EngineAdapter.LaunchCommand;
import dev.flotilla.agent.engine.EngineAdapter.MemoryNeed;
import dev.flotilla.agent.engine.EngineAdapter.Readiness;
import dev.flotilla.agent.process.WorkerLife.Outcome;
import dev.flotilla.wire.connection.LoopbackPorts;
import dev.flotilla.wire.fleet.WorkerReport.Phase;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import dev.flotilla.wire.text.Counted;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * One launch of a worker: from the look at the memory to the end of its process. Whatever happens,
 * an interrupt included, the process is gone, its claim on memory is given back and its record is
 * removed when {@link #run} returns.
 */
final class EngineLaunch {
  private static final int KEY_BYTES = 24;

  private final WorkerLife life;
  private final WorkerSpec spec;
  private final Surroundings surroundings;
  private final SupervisorLimits limits;
  private final EngineAdapter adapter;
  private final WorkerLog log;
  private final Path model;
  private final MemoryNeed need;
  private final long generation;
  private final String key;

  EngineLaunch(
      WorkerLife life,
      WorkerSpec spec,
      Surroundings surroundings,
      EngineAdapter adapter,
      WorkerLog log,
      Path model,
      MemoryNeed need,
      long generation) {
    this.life = life;
    this.spec = spec;
    this.surroundings = surroundings;
    this.limits = surroundings.limits();
    this.adapter = adapter;
    this.log = log;
    this.model = model;
    this.need = need;
    this.generation = generation;
    byte[] bytes = new byte[KEY_BYTES];
    surroundings.random().nextBytes(bytes);
    this.key = HexFormat.of().formatHex(bytes);
  }

  /** A process that was started. */
  private record Running(
      Process process,
      Thread pump,
      int port,
      Launch launch,
      LaunchIdentity identity,
      long startedNanos) {}

  Outcome run() throws InterruptedException {
    Path folder;
    try {
      folder = surroundings.records().create(generation);
    } catch (IOException e) {
      return new Outcome.Refused("No folder for the launch can be made: " + e.getMessage());
    }
    try {
      for (int tries = 1; ; tries++) {
        Optional<Outcome> outcome = once(folder);
        if (outcome.isPresent()) {
          return outcome.get();
        }
        if (tries == limits.portTries()) {
          return died(
              "worker-not-ready",
              "Other programs took each of the %d ports that were tried.".formatted(tries));
        }
      }
    } finally {
      surroundings.records().remove(folder);
    }
  }

  /** One port's try; empty where another program took the port. */
  private Optional<Outcome> once(Path folder) throws InterruptedException {
    Running running;
    try {
      surroundings.startGate().lockInterruptibly();
      try {
        Optional<String> shortage =
            surroundings
                .claims()
                .shortage(need, surroundings.memory(spec), surroundings.policy().memoryFraction());
        if (shortage.isPresent()) {
          return Optional.of(new Outcome.Refused(shortage.get(), true));
        }
        running = start(folder);
      } finally {
        surroundings.startGate().unlock();
      }
    } catch (IOException e) {
      return Optional.of(died("worker-not-ready", "It can't be started: " + e.getMessage() + "."));
    }
    try {
      return watch(running);
    } finally {
      end(running);
    }
  }

  private Running start(Path folder) throws IOException {
    int port = surroundings.ports().free();
    Launch launch = new Launch(key, folder, generation);
    LaunchCommand command = adapter.command(spec, model, port, surroundings.threads(), launch);
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.keySet().removeIf(variable -> !adapter.inherits(variable));
    environment.putAll(command.environment());
    log.forgetLines();
    long startedNanos = System.nanoTime();
    Process process = surroundings.starter().start(command.arguments(), environment, folder);
    long pid = process.pid();
    surroundings.claims().claim(spec.id(), pid, surroundings.memory(spec), need);
    surroundings.guard().add(pid);
    Thread pump =
        Thread.ofVirtual().name("log-" + spec.id()).start(() -> log.pump(process.getInputStream()));
    LaunchIdentity identity =
        new LaunchIdentity(process.toHandle(), port, adapter.hasKey(), surroundings.portOwners());
    Running running = new Running(process, pump, port, launch, identity, startedNanos);
    try {
      surroundings
          .records()
          .write(folder, new LaunchRecords.Started(spec.id(), spec.engine(), port, pid));
    } catch (IOException e) {
      end(running);
      throw e;
    }
    life.publish(last ->
        Reports.started(last, pid, port, key, command.arguments(), surroundings.clock().instant()));
    life.happened(
        Severity.INFO,
        "worker-started",
        "Process %d was started on port %d (generation %d).".formatted(pid, port, generation));
    return running;
  }

  private Optional<Outcome> watch(Running running) throws InterruptedException {
    Process process = running.process();
    Duration within = limits.readyWithin(need.weightBytes()).plus(adapter.slowStart());
    long deadline = running.startedNanos() + within.toNanos();
    String seen = "nothing was heard of it";
    while (true) {
      if (process.waitFor(limits.probeEvery().toMillis(), TimeUnit.MILLISECONDS)) {
        if (!LoopbackPorts.taken(running.port())) {
          return Optional.of(
              died("worker-not-ready", "It never became ready. " + explain(running)));
        }
        endStale(running);
        return Optional.empty();
      }
      switch (running.identity().prove(() -> probe(running))) {
        case Readiness.Ready ready -> {
          return Optional.of(serve(running, ready));
        }
        case Readiness.Wrong wrong -> {
          return Optional.of(died("worker-not-ready", wrong.why()));
        }
        case Readiness.Broken broken -> {
          return Optional.of(died("worker-not-ready", broken.what() + " " + lastWords()));
        }
        case Readiness.Stranger stranger -> {
          if (!endStale(running)) {
            life.happened(Severity.WARNING, "port-taken", stranger.why());
          }
          return Optional.empty();
        }
        case Readiness.NotYet notYet -> seen = notYet.what();
      }
      if (System.nanoTime() - deadline > 0) {
        return Optional.of(
            died(
                "worker-not-ready",
                "It was not ready within %s (%s); its log is %s."
                    .formatted(WorkerLife.seconds(within), seen, log.file())));
      }
    }
  }

  private Readiness probe(Running running) {
    return adapter.probe(spec, model, running.port(), running.launch());
  }

  /**
   * Ends the server that holds the port, where an agent on this home started it and nobody looks
   * after it; anybody else's is left alone.
   */
  private boolean endStale(Running running) {
    OptionalLong owner = running.identity().foreignOwner();
    Optional<LaunchRecords.Leftover> stale =
        owner.isEmpty()
            ? Optional.empty()
            : ProcessHandle.of(owner.getAsLong())
                .flatMap(process -> surroundings.records().judge(process, surroundings.programs()));
    if (stale.isEmpty()) {
      return false;
    }
    ProcessEnd.end(stale.get().process(), limits.stopWithin());
    life.happened(
        Severity.WARNING,
        "stale-server-stopped",
        "Process %d (%s) held port %d: it was left by %s; it was ended, and the worker is started anew."
            .formatted(
                stale.get().process().pid(),
                stale.get().what(),
                running.port(),
                stale.get().how()));
    return true;
  }

  private Outcome serve(Running running, Readiness.Ready ready) throws InterruptedException {
    Process process = running.process();
    surroundings.claims().settle(spec.id());
    long readyNanos = System.nanoTime();
    Duration took = Duration.ofNanos(readyNanos - running.startedNanos());
    life.publish(last -> Reports.ready(last, ready, ProcessFacts.residentBytes(process.pid())));
    life.happened(
        Severity.INFO,
        "worker-ready",
        "Ready after %s: %,d tokens a request, %s, port %d."
            .formatted(
                WorkerLife.seconds(took),
                ready.contextTokens(),
                Counted.of(ready.slots(), "slot"),
                running.port()));
    Optional<Pulse.Verdict> verdict;
    try (Pulse pulse =
        Pulse.of(
            spec.id(),
            process.toHandle(),
            () ->
                running
                    .identity()
                    .confirm(() -> adapter.pulse(spec, model, running.port(), running.launch())),
            limits,
            surroundings.clock())) {
      while (!process.waitFor(limits.lookEvery().toMillis(), TimeUnit.MILLISECONDS)) {
        long resident = ProcessFacts.residentBytes(process.pid());
        life.update(last -> Reports.resident(last, resident));
      }
      verdict = pulse.verdict();
    }
    Duration ran = Duration.ofNanos(System.nanoTime() - readyNanos);
    boolean ranWell = ran.compareTo(limits.ranWell()) >= 0;
    if (verdict.isPresent()) {
      String reason = verdict.get().reason();
      return new Outcome.Died(
          verdict.get().kind(),
          verdict.get().logTells() ? reason + " " + lastWords() : reason,
          ranWell);
    }
    return new Outcome.Died(
        "worker-died",
        "Its process %d ended after %s. %s"
            .formatted(process.pid(), WorkerLife.seconds(ran), explain(running)),
        ranWell);
  }

  /** Of a process that exists, or that was killed for what it said: its exit says nothing. */
  private String lastWords() {
    return adapter.explainExit(EngineAdapter.NO_EXIT, log.lastLines());
  }

  private String explain(Running running) throws InterruptedException {
    // What it said last may still be on its way.
    running.pump().join(Duration.ofSeconds(1));
    return adapter.explainExit(running.process().exitValue(), log.lastLines());
  }

  private static Outcome died(String kind, String reason) {
    return new Outcome.Died(kind, reason, false);
  }

  /** The process is gone after this, whatever state it was in. */
  private void end(Running running) {
    boolean interrupted = Thread.interrupted();
    Process process = running.process();
    try {
      if (process.isAlive()) {
        life.publish(last -> Reports.phase(last, spec, generation, Phase.STOPPING, ""));
      }
      ProcessEnd.end(process.toHandle(), limits.stopWithin());
    } finally {
      surroundings.guard().remove(process.pid());
      surroundings.claims().release(spec.id());
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
