package dev.flotilla.agent.process;

import dev.flotilla.agent.engine.EngineAdapter.Readiness;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.fleet.WorkerReport.Phase;
import dev.flotilla.wire.fleet.WorkerSpec;
import java.time.Instant;
import java.util.List;

/** From one report of a worker to the next. */
final class Reports {
  private Reports() {}

  /** A phase in which no process runs, or in which it is about to end. */
  static WorkerReport phase(
      WorkerReport last, WorkerSpec spec, long generation, Phase phase, String reason) {
    return phase(last, spec, generation, phase, reason, false);
  }

  /** The launch can't be, for want of memory or for another reason. */
  static WorkerReport refused(
      WorkerReport last, WorkerSpec spec, long generation, String reason, boolean forMemory) {
    return phase(last, spec, generation, Phase.REFUSED, reason, forMemory);
  }

  private static WorkerReport phase(
      WorkerReport last,
      WorkerSpec spec,
      long generation,
      Phase phase,
      String reason,
      boolean shortOfMemory) {
    boolean runs = phase == Phase.STOPPING;
    return new WorkerReport(
        spec.id(),
        spec.model(),
        generation,
        phase,
        reason,
        spec.engine(),
        last.engineBuild(),
        runs ? last.pid() : 0,
        runs ? last.port() : 0,
        runs ? last.apiKey() : "",
        last.commandLine(),
        runs ? last.contextTokens() : 0,
        runs ? last.slots() : 0,
        spec.embeddings(),
        last.longestTokenBytes(),
        runs ? last.residentBytes() : 0,
        last.launches(),
        runs ? last.startedAt() : null,
        last.modelFingerprint(),
        shortOfMemory);
  }

  /** The process of a launch runs. */
  static WorkerReport started(
      WorkerReport last, long pid, int port, String key, List<String> command, Instant at) {
    return new WorkerReport(
        last.id(),
        last.model(),
        last.generation(),
        Phase.STARTING,
        "",
        last.engine(),
        "",
        pid,
        port,
        key,
        command,
        0,
        0,
        last.embeddings(),
        last.longestTokenBytes(),
        0,
        last.launches() + 1,
        at,
        last.modelFingerprint(),
        false);
  }

  /** The process answered as itself. */
  static WorkerReport ready(WorkerReport last, Readiness.Ready ready, long residentBytes) {
    return new WorkerReport(
        last.id(),
        last.model(),
        last.generation(),
        Phase.READY,
        "",
        last.engine(),
        ready.engineBuild(),
        last.pid(),
        last.port(),
        last.apiKey(),
        last.commandLine(),
        ready.contextTokens(),
        ready.slots(),
        last.embeddings(),
        last.longestTokenBytes(),
        residentBytes,
        last.launches(),
        last.startedAt(),
        last.modelFingerprint(),
        false);
  }

  /** What the launch will read is there. */
  static WorkerReport model(WorkerReport last, int longestTokenBytes, String fingerprint) {
    return measured(last, longestTokenBytes, last.residentBytes(), fingerprint);
  }

  static WorkerReport resident(WorkerReport last, long bytes) {
    return measured(last, last.longestTokenBytes(), bytes, last.modelFingerprint());
  }

  private static WorkerReport measured(
      WorkerReport last, int longestToken, long resident, String fingerprint) {
    return new WorkerReport(
        last.id(),
        last.model(),
        last.generation(),
        last.phase(),
        last.reason(),
        last.engine(),
        last.engineBuild(),
        last.pid(),
        last.port(),
        last.apiKey(),
        last.commandLine(),
        last.contextTokens(),
        last.slots(),
        last.embeddings(),
        longestToken,
        resident,
        last.launches(),
        last.startedAt(),
        fingerprint,
        last.shortOfMemory());
  }
}
