package dev.flotilla.hub.fleet;

import dev.flotilla.wire.lanes.ControlMessage.UpdateOffered;

/**
 * How far a node is with a version that it was offered.
 *
 * @param before the version that it ran then
 * @param generation of the agent that it was offered to
 * @param why the reason of an end, the end of a sentence
 * @param since the clock that never jumps, when the stage began
 */
record NodeUpdate(
    UpdateOffered offer, String before, long generation, Stage stage, String why, long since) {

  enum Stage {
    OFFERED("is offered"),
    PREPARING("is being fetched"),
    DRAINING("is ready, what runs is finished first"),
    REPLACING("takes over"),
    SETTLING("runs, its workers come back"),
    DONE("runs"),
    DECLINED("is declined"),
    FAILED("failed");

    private final String words;

    Stage(String words) {
      this.words = words;
    }

    /** Whether nothing more comes of it by itself. */
    boolean isOver() {
      return this == DONE || this == DECLINED || this == FAILED;
    }
  }

  NodeUpdate to(Stage next, String reason, long now) {
    return new NodeUpdate(offer, before, generation, next, reason, now);
  }

  String version() {
    return offer.release().version();
  }

  boolean takesNothingNew() {
    return stage == Stage.DRAINING || stage == Stage.REPLACING;
  }

  /** For people. */
  String words() {
    return "version " + version() + " " + stage.words + (why.isEmpty() ? "" : ": " + why);
  }
}
