package dev.flotilla.hub.routing;

/**
 * What the dispatcher knows of a target at one moment, for people to read.
 *
 * @param target the target's name
 * @param inFlight requests reserved on it now, from the ledger
 * @param decodeTokensPerSecond learned speed of one request's answer, 0 before the first
 * @param prefillTokensPerSecond learned speed of reading a prompt, 0 before the first
 * @param served requests that ended well since the hub started
 * @param failed attempts that failed since the hub started
 * @param setAsideMillis how much longer it is set aside for its faults, 0 where it is not
 */
public record TargetLoad(
    String target,
    int inFlight,
    double decodeTokensPerSecond,
    double prefillTokensPerSecond,
    long served,
    long failed,
    long setAsideMillis) {}
