package dev.flotilla.hub.fleet;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One worker as people see it: a row of the worker table. Holds no secret.
 *
 * @param startedWith exact command line of the launch, program first, empty before the first start
 * @param stateReason one sentence where the state needs one, empty otherwise
 * @param commandedBy who drained it, by hand or for an update; empty where nobody did
 * @param proof what its proof said of it, such as its speed; empty before and where it was refused
 */
public record WorkerView(
    String name,
    String node,
    String host,
    String gpu,
    String model,
    String engine,
    String engineBuild,
    int contextTokens,
    int slots,
    State state,
    String stateReason,
    long generation,
    long pid,
    int port,
    long residentBytes,
    int launches,
    @Nullable Instant startedAt,
    List<String> startedWith,
    String commandedBy,
    String proof) {

  /** The life of a worker, as the hub sees it. */
  public enum State {
    /** Wanted and not yet ready: fetching, starting, or pausing before another try. */
    STARTING,
    /** Ready, and being shown to be what its model promises: nothing is sent to it yet. */
    PROVING,
    /** Takes requests. */
    SERVING,
    /** Takes nothing new; what runs is finished. */
    DRAINING,
    /** Can't be started as asked, or fell short in its proof; the reason says why. */
    REFUSED,
    /** Its node has been silent for longer than a heartbeat: nothing new is sent. */
    SUSPECT,
    /** Its node is gone. */
    LOST,
    /** Not wanted any more, or stopped with its agent. */
    STOPPED
  }
}
