package dev.flotilla.wire.fleet;

import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What an agent says of one worker. A report belongs to one launch: a later launch of the same
 * worker has a higher generation, and a report of a lower generation is never believed over a
 * higher one.
 *
 * @param id the worker's name, as in {@link WorkerSpec#id()}
 * @param generation number of this launch; grows with every launch on a node, across restarts of
 *     the agent
 * @param phase where the launch stands
 * @param reason one sentence for FAILED, REFUSED, WAITING and STOPPED, empty otherwise
 * @param engine the engine's word
 * @param engineBuild what the engine says of its own version, empty before it is ready
 * @param pid process id, 0 where no process runs
 * @param port loopback port that work lanes are opened to, 0 where none
 * @param apiKey this launch's random key; travels on the control lane only, is kept in memory only
 * @param commandLine the exact command line, program first; holds no secret; empty before the first
 *     start
 * @param contextTokens context of one request, as the engine itself reports it; 0 before it is
 *     ready
 * @param slots requests that run at once, as the engine itself reports it; 0 before it is ready
 * @param longestTokenBytes bytes of the longest token in the model's vocabulary, 0 where unknown
 * @param residentBytes the process's resident memory at the last look, 0 where unknown
 * @param launches how often this worker was launched since the agent started
 * @param startedAt when the process of this launch was started; null where none was
 * @param modelFingerprint tells one model file, or folder, from another, whatever its name; empty
 *     where it is not known
 * @param shortOfMemory whether REFUSED is for want of memory alone, which what runs there may free
 */
public record WorkerReport(
    String id,
    String model,
    long generation,
    Phase phase,
    String reason,
    String engine,
    String engineBuild,
    long pid,
    int port,
    String apiKey,
    List<String> commandLine,
    int contextTokens,
    int slots,
    boolean embeddings,
    int longestTokenBytes,
    long residentBytes,
    int launches,
    @Nullable Instant startedAt,
    String modelFingerprint,
    boolean shortOfMemory) {

  public WorkerReport {
    commandLine = List.copyOf(commandLine);
    // What an older agent says has none.
    modelFingerprint = Objects.requireNonNullElse(modelFingerprint, "");
  }

  /** Where a launch stands, as the agent sees it. */
  public enum Phase {
    /** The model or the engine is being fetched, or memory is awaited. */
    PREPARING,
    /** The process runs and has not yet answered as itself. */
    STARTING,
    /** The process answered with this launch's key and the promised context and slots. */
    READY,
    /** The process was asked to end. */
    STOPPING,
    /** No process runs and none is wanted. */
    STOPPED,
    /**
     * The process died or never became ready; it is started again after a pause, which {@code
     * reason} names.
     */
    WAITING,
    /**
     * It can't be started as asked: memory, a bad file, the agent's policy. Tried again only after
     * a long pause.
     */
    REFUSED
  }

  /** The key is left out: a report may be logged. */
  @Override
  public String toString() {
    return "WorkerReport["
        + id
        + " generation "
        + generation
        + " "
        + phase
        + (reason.isEmpty() ? "" : ": " + reason)
        + "]";
  }
}
