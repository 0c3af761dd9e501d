package dev.flotilla.wire.lanes;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.release.Release;
import java.time.Instant;
import java.util.List;

/**
 * The messages of a control lane: one JSON object a line, each with its kind in the field {@code
 * type}.
 *
 * <p>The agent dials, sends {@link Hello} first and then whatever happens; the hub answers with
 * {@link Welcome} or {@link Refusal} and from then on says what it wants. Both sides ignore a
 * {@code type} that they do not know, so that an older hub and a newer agent can talk.
 */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
  @JsonSubTypes.Type(value = ControlMessage.Hello.class, name = "hello"),
  @JsonSubTypes.Type(value = ControlMessage.Heartbeat.class, name = "heartbeat"),
  @JsonSubTypes.Type(value = ControlMessage.WorkerChanged.class, name = "worker"),
  @JsonSubTypes.Type(value = ControlMessage.Happened.class, name = "event"),
  @JsonSubTypes.Type(value = ControlMessage.Progress.class, name = "progress"),
  @JsonSubTypes.Type(value = ControlMessage.UpdateStep.class, name = "update-step"),
  @JsonSubTypes.Type(value = ControlMessage.Goodbye.class, name = "goodbye"),
  @JsonSubTypes.Type(value = ControlMessage.Welcome.class, name = "welcome"),
  @JsonSubTypes.Type(value = ControlMessage.Refusal.class, name = "refusal"),
  @JsonSubTypes.Type(value = ControlMessage.Desired.class, name = "desired"),
  @JsonSubTypes.Type(value = ControlMessage.RestartWorker.class, name = "restart-worker"),
  @JsonSubTypes.Type(value = ControlMessage.LanesWanted.class, name = "lanes-wanted"),
  @JsonSubTypes.Type(value = ControlMessage.UpdateOffered.class, name = "update-offered"),
  @JsonSubTypes.Type(value = ControlMessage.UpdateNow.class, name = "update-now"),
})
public sealed interface ControlMessage {

  /** Messages that an agent sends. */
  sealed interface FromAgent extends ControlMessage {}

  /** Messages that a hub sends. */
  sealed interface FromHub extends ControlMessage {}

  /**
   * The first message of a control lane.
   *
   * @param node the node's name in the fleet
   * @param agentId random name that the agent made for its home folder once; tells two agents of
   *     one name apart
   * @param generation how often an agent was started on this home: a hub never lets a lower one
   *     replace a higher one
   * @param version the agent's version
   * @param workers every worker that the agent has, running or not
   */
  record Hello(
      String node,
      String agentId,
      long generation,
      String version,
      NodeFacts facts,
      List<WorkerReport> workers)
      implements FromAgent {}

  /**
   * The node lives. Sent as often as {@link Welcome#heartbeatMillis()} says.
   *
   * @param workers every worker that the agent has
   * @param lanes what went through the work lanes, counted where it arrived
   */
  record Heartbeat(NodeFacts facts, List<WorkerReport> workers, List<LaneCount> lanes)
      implements FromAgent {}

  /** A worker's phase, port, key or command line changed. */
  record WorkerChanged(WorkerReport worker) implements FromAgent {}

  /** Something that a person will want to read later. */
  record Happened(Instant at, Severity severity, String kind, String subject, String message)
      implements FromAgent {}

  /**
   * A long step moves on: a download, an engine's installation.
   *
   * @param subject what it is for: a model reference or an engine
   * @param step what is being done, in words
   * @param doneBytes how far it is
   * @param totalBytes how far it goes, -1 where unknown
   * @param finished whether this is the last word on this subject
   */
  record Progress(String subject, String step, long doneBytes, long totalBytes, boolean finished)
      implements FromAgent {}

  /**
   * How far the agent is with a version that it was offered.
   *
   * @param attempt which offer of that version
   * @param reason why it is declined or failed, one sentence; else empty
   */
  record UpdateStep(String version, long attempt, Stage stage, String reason) implements FromAgent {

    /** Every offer is answered with {@code FETCHING} or {@code DECLINED} at once. */
    public enum Stage {
      /** It will not be taken. */
      DECLINED,
      /** It is fetched, checked and unpacked. */
      FETCHING,
      /** It lies there; the agent waits for {@link UpdateNow}. */
      READY,
      /** It could not be had, or it ran and was given up for the version before. */
      FAILED
    }
  }

  /** The agent ends of its own will; its workers end with it. */
  record Goodbye(String reason) implements FromAgent {}

  /**
   * The hub takes the agent in.
   *
   * @param heartbeatMillis how often the hub wants to hear of the node
   * @param idleLanes work lanes that the agent keeps open and unopened
   * @param lanesMax work lanes that the agent may have at once, opened ones included
   */
  record Welcome(String hubId, int heartbeatMillis, int idleLanes, int lanesMax)
      implements FromHub {}

  /**
   * The hub does not take the agent in, and closes.
   *
   * @param retry whether trying again later can help without a person
   */
  record Refusal(String code, String reason, boolean retry) implements FromHub {}

  /** Everything that the node is to run; a worker that is not named is stopped. */
  record Desired(long revision, List<WorkerSpec> workers) implements FromHub {}

  /** Stop the worker and start it again. */
  record RestartWorker(String id) implements FromHub {}

  /**
   * A version that the agent may replace itself by. Its file is at {@code /lanes/releases/VERSION},
   * for the node's own credential.
   *
   * @param attempt which offer of that version; a higher one is for agents where a lower one failed
   */
  record UpdateOffered(Release release, long attempt) implements FromHub {}

  /** Nothing runs on the node any more: replace yourself by the version that is ready. */
  record UpdateNow(String version) implements FromHub {}

  /** So many more work lanes are needed now. */
  record LanesWanted(int count) implements FromHub {}

  /**
   * What one worker received through work lanes since the agent started.
   *
   * @param bytesIn bytes towards the engine
   * @param bytesOut bytes from the engine
   */
  record LaneCount(
      String worker, long opened, long closed, long refused, long bytesIn, long bytesOut) {}

  /** How much an event matters. */
  enum Severity {
    INFO,
    WARNING,
    ERROR
  }
}
