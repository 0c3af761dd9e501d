package dev.flotilla.hub.store;

import java.time.Instant;

/**
 * One step in the life of a worker, as its history keeps it.
 *
 * @param worker the worker's name
 * @param generation the launch that it belongs to, 0 before the first
 * @param state the state that it went into, in the words of the worker table
 * @param reason one sentence where the state has one, empty otherwise
 * @param startedWith exact command line of the launch, program first, empty before the first start
 */
public record WorkerChange(
    Instant at,
    String worker,
    String node,
    String model,
    long generation,
    String state,
    String reason,
    String startedWith)
    implements JournalRow {}
