package dev.flotilla.hub.fleet;

import dev.flotilla.hub.routing.Target;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.WorkerSpec;
import java.util.Optional;

/**
 * A worker's launch that waits to be proved. Its target is in no {@link
 * dev.flotilla.hub.routing.FleetSnapshot}: nobody but the proof sends anything to it.
 *
 * @param target how it is called
 * @param spec what was wanted of it
 * @param engineBuild what its engine says of its own version, empty where nothing
 * @param modelFingerprint of the file or folder that it reads, empty where its agent tells none
 * @param facts what is known of its machine
 * @param fresh whether an earlier proof must not stand for this one: it was asked for by hand, or
 *     something about the worker was seen to have changed
 * @param asReference whether what it answers becomes the model's reference
 * @param slow whether it was found too slow: then its speed is looked at first
 */
public record ProofCandidate(
    Target target,
    WorkerSpec spec,
    String engineBuild,
    String modelFingerprint,
    Optional<NodeFacts> facts,
    boolean fresh,
    boolean asReference,
    boolean slow) {

  /** The worker's name. */
  public String worker() {
    return target.name();
  }

  /** The launch that is proved. */
  public long generation() {
    return target.generation();
  }

  /** The public name that it is to serve. */
  public String model() {
    return spec.model();
  }
}
