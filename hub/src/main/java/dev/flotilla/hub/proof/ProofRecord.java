package dev.flotilla.hub.proof;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One proof, as it is kept.
 *
 * @param key what it stands for: file, engine's build, arguments and machine; equal workers have
 *     the same
 * @param passed whether the worker may serve
 * @param reason why not, one sentence without its end; empty where it passed
 * @param finished whether its whole curve was measured
 * @param reference whether it was taken as the model's reference
 * @param curve null where its speed was not reached
 */
public record ProofRecord(
    Instant at,
    String worker,
    String node,
    String model,
    long generation,
    String key,
    boolean passed,
    String reason,
    boolean finished,
    boolean reference,
    List<Finding> findings,
    @Nullable Curve curve,
    Duration took) {

  public ProofRecord {
    findings = List.copyOf(findings);
  }

  /** The same with its whole curve. */
  ProofRecord finishedWith(Curve whole, Instant now) {
    return new ProofRecord(
        now,
        worker,
        node,
        model,
        generation,
        key,
        passed,
        reason,
        true,
        reference,
        findings,
        whole,
        took);
  }

  /** The same, standing for an equal worker. */
  ProofRecord standingFor(String other, String itsNode, long itsGeneration) {
    return new ProofRecord(
        at,
        other,
        itsNode,
        model,
        itsGeneration,
        key,
        passed,
        reason,
        finished,
        false,
        findings,
        curve,
        Duration.ZERO);
  }
}
