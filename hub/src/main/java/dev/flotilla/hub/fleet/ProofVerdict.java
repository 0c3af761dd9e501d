package dev.flotilla.hub.fleet;

/** How a proof ended. */
public sealed interface ProofVerdict {

  /**
   * The worker may serve.
   *
   * @param slots requests that it is given at once, 0 for as many as it has slots
   * @param note what people read beside its name, such as its speed; empty for nothing
   */
  record Passed(int slots, String note) implements ProofVerdict {}

  /**
   * It may not.
   *
   * @param reason one sentence without its end
   * @param slow whether it is only too slow: then it is worth another look when its machine has
   *     less to do
   */
  record Refused(String reason, boolean slow) implements ProofVerdict {}

  /** The proof could not be carried out, through nobody's fault: it is wanted still. */
  record Broken(String why) implements ProofVerdict {}
}
