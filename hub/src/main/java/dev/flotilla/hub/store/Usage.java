package dev.flotilla.hub.store;

import java.time.Instant;

/**
 * One finished request, as the usage log keeps it.
 *
 * @param key name of the client key, empty where none was demanded
 * @param target worker or backend of the last attempt, empty where none was reached
 * @param status HTTP status that the client saw; 499 where the client went away first
 * @param outcome {@code ok}, {@code client-gone}, {@code refused}, {@code failed} or {@code cut}
 *     (failed after the first byte)
 * @param promptTokens as the engine counted, -1 where it did not say
 * @param completionTokens as the engine counted, -1 where it did not say
 * @param queueMicros wait for a slot
 * @param firstByteMicros from the request's arrival to the first byte of the reply's body, -1 where
 *     there was none
 * @param totalMicros from the request's arrival to the reply's end
 */
public record Usage(
    Instant at,
    String requestId,
    String key,
    String model,
    String target,
    String path,
    boolean streamed,
    int status,
    String outcome,
    int attempts,
    int promptTokens,
    int completionTokens,
    long queueMicros,
    long firstByteMicros,
    long totalMicros)
    implements JournalRow {}
