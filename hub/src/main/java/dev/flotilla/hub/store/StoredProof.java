package dev.flotilla.hub.store;

import java.time.Instant;

/**
 * A proof as it is stored.
 *
 * @param document all of it, a JSON object
 */
public record StoredProof(
    Instant at, String worker, String model, boolean passed, String document) {}
