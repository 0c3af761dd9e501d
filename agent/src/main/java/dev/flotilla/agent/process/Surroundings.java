package dev.flotilla.agent.process;

import dev.flotilla.agent.engine.EngineAdapter;
import dev.flotilla.agent.policy.Policy;
import dev.flotilla.wire.fleet.NodeFacts.EngineFacts;
import dev.flotilla.wire.fleet.WorkerSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/** What all workers of a node share. */
final class Surroundings {
  private final Path home;
  private final int cores;
  private final Policy policy;
  private final Map<String, EngineAdapter> adapters;
  private final ModelFiles models;
  private final MemoryRoom.Source memory;
  private final SupervisorListener listener;
  private final ProcessStarter starter;
  private final InstantSource clock;
  private final RandomGenerator random;
  private final SupervisorLimits limits;
  private final PortOwners portOwners;
  private final Ports ports;

  private final Generations generations;
  private final LaunchRecords records;
  private final OrphanGuard guard;
  private final MemoryClaims claims = new MemoryClaims(ProcessFacts::touchedBytes);

  /** Held from the look at the memory until what is needed of it is claimed. */
  private final ReentrantLock startGate = new ReentrantLock(true);

  private volatile int sharers = 1;

  Surroundings(
      Path home,
      int cores,
      Policy policy,
      Map<String, EngineAdapter> adapters,
      ModelFiles models,
      MemoryRoom.Source memory,
      SupervisorListener listener,
      ProcessStarter starter,
      InstantSource clock,
      RandomGenerator random,
      SupervisorLimits limits,
      PortOwners portOwners,
      Ports ports) {
    this.home = home.toAbsolutePath().normalize();
    this.cores = cores;
    this.policy = policy;
    this.adapters = adapters;
    this.models = models;
    this.memory = memory;
    this.listener = listener;
    this.starter = starter;
    this.clock = clock;
    this.random = random;
    this.limits = limits;
    this.portOwners = portOwners;
    this.ports = ports;
    this.generations = new Generations(this.home);
    this.records = new LaunchRecords(this.home);
    this.guard = new OrphanGuard(ProcessStarter.inOwnSession(), this.home);
  }

  Path home() {
    return home;
  }

  Policy policy() {
    return policy;
  }

  Map<String, EngineAdapter> adapters() {
    return adapters;
  }

  ModelFiles models() {
    return models;
  }

  MemoryRoom memory(WorkerSpec spec) {
    return memory.of(spec);
  }

  SupervisorListener listener() {
    return listener;
  }

  ProcessStarter starter() {
    return starter;
  }

  InstantSource clock() {
    return clock;
  }

  RandomGenerator random() {
    return random;
  }

  SupervisorLimits limits() {
    return limits;
  }

  PortOwners portOwners() {
    return portOwners;
  }

  Ports ports() {
    return ports;
  }

  /** Files of the engines that may be started here, as a process shows them. */
  Set<String> programs() {
    return adapters.values().stream()
        .map(EngineAdapter::found)
        .flatMap(Optional::stream)
        .map(EngineFacts::path)
        .collect(Collectors.toSet());
  }

  Generations generations() {
    return generations;
  }

  LaunchRecords records() {
    return records;
  }

  OrphanGuard guard() {
    return guard;
  }

  MemoryClaims claims() {
    return claims;
  }

  ReentrantLock startGate() {
    return startGate;
  }

  /** How many workers share the cores. */
  void sharers(int workers) {
    sharers = Math.max(1, workers);
  }

  int threads() {
    return Math.max(1, cores / sharers);
  }

  /** Where an engine's port comes from. */
  @FunctionalInterface
  interface Ports {
    int free() throws IOException;
  }
}
