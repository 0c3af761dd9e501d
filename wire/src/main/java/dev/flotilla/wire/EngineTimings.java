package dev.flotilla.wire;

/**
 * llama-server's {@code timings}: what the engine itself measured of one reply. A number that is
 * absent is 0.
 *
 * @param promptTokens prompt tokens that were computed, cached ones not included
 * @param promptMillis time for them
 * @param predictedTokens tokens generated
 * @param predictedMillis time for them
 * @param cachedTokens prompt tokens that were taken from the cache
 */
public record EngineTimings(
    long promptTokens,
    double promptMillis,
    long predictedTokens,
    double predictedMillis,
    long cachedTokens) {}
