package dev.flotilla.hub.store;

import dev.flotilla.wire.lanes.ControlMessage.Severity;
import java.time.Instant;

/**
 * Something that happened and that a person will want to read later.
 *
 * @param id position in the log, 0 before it is stored
 * @param kind stable word, such as {@code worker-died}
 * @param subject what it happened to: a worker, node, model, key or revision
 * @param message one sentence with the numbers
 */
public record Event(
    long id, Instant at, Severity severity, String kind, String subject, String message)
    implements JournalRow {}
